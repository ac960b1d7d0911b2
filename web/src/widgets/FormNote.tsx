import { Icon } from '../icons/Icon.tsx'
import { AlertIcon } from '../icons/index.ts'

/** What is wrong with a form as a whole. Screen readers announce it. */
export function FormNote({ text }: { text: string | undefined }) {
  if (text === undefined) return null
  return (
    <div className="note bad" role="alert">
      <Icon of={AlertIcon} />
      <span>{text}</span>
    </div>
  )
}
