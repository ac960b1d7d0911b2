import { type ComponentProps, type ReactNode, useId } from 'react'
import { Icon, type IconNode } from '../icons/Icon.tsx'
import { AlertIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { useFaultReport } from './form-faults.ts'

type FieldProps = {
  readonly label: ReactNode
  /** Right of the label. */
  readonly aside?: ReactNode
  /** Below the control, unless there is an error. */
  readonly hint?: ReactNode
  readonly errors?: readonly string[] | undefined
  /** The control, with what connects it to its label and texts. */
  readonly children: (props: ControlProps) => ReactNode
}

export type ControlProps = {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': true | undefined
}

/** A label above, a hint or the errors below. The first field with errors gets the focus when its form was sent. */
export function Field({ label, aside, hint, errors = [], children }: FieldProps) {
  const id = useId()
  const t = useText()
  const isBad = errors.length > 0
  useFaultReport(id, isBad, t.common.problems)
  const describedBy = isBad || hint !== undefined ? `${id}-text` : undefined
  const name = <label htmlFor={id}>{label}</label>
  return (
    <div className="field">
      {aside === undefined ? (
        name
      ) : (
        <div className="lab-row">
          {name}
          {aside}
        </div>
      )}
      {children({ id, 'aria-describedby': describedBy, 'aria-invalid': isBad || undefined })}
      {isBad ? (
        <p className="err" id={describedBy}>
          <Icon of={AlertIcon} />
          <span>{errors.join(' ')}</span>
        </p>
      ) : (
        hint !== undefined && (
          <div className="hint" id={describedBy}>
            {hint}
          </div>
        )
      )}
    </div>
  )
}

type InputProps = ComponentProps<'input'> & {
  readonly icon?: IconNode
  /** Before and after the text, within the frame. */
  readonly before?: ReactNode
  readonly after?: ReactNode
}

export function Input({ icon, before, after, className = '', ...props }: InputProps) {
  const bad = props['aria-invalid'] ? 'bad' : ''
  return (
    <div className={`in ${bad} ${className}`}>
      {icon !== undefined && <Icon of={icon} />}
      {before}
      <input {...props} />
      {after}
    </div>
  )
}

export function Select({ className = '', ...props }: ComponentProps<'select'>) {
  return <select {...props} className={`in ${className}`} />
}

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
