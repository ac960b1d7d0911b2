import { Observable } from '../state/observable.ts'

/** Whether the command palette is shown. */
export const paletteOpen = new Observable(false)
