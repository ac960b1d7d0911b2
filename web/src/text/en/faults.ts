import type { FaultTexts } from '../fault-text.ts'

/** The API words its messages in English itself. */
export const faults: FaultTexts | null = null
