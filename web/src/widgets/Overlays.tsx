import { Tips } from './Tips.tsx'
import { Toasts } from './Toasts.tsx'

/** What lies above every page. */
export function Overlays() {
  return (
    <>
      <Toasts />
      <Tips />
    </>
  )
}
