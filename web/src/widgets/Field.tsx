import { type ComponentProps, type ReactNode, useEffect, useId, useState } from 'react'
import { Icon, type IconNode } from '../icons/Icon.tsx'
import { AlertIcon, EyeIcon, EyeOffIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { IconButton } from './Button.tsx'

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

/** Browsers let people type six digits of a year, which no `Date` can read. */
const LAST_MINUTE = '9999-12-31T23:59'

export function Input({ icon, before, after, className = '', ...props }: InputProps) {
  const bad = props['aria-invalid'] ? 'bad' : ''
  return (
    <div className={`in ${bad} ${className}`}>
      {icon !== undefined && <Icon of={icon} />}
      {before}
      <input max={props.type === 'datetime-local' ? LAST_MINUTE : undefined} {...props} />
      {after}
    </div>
  )
}

/** Several lines of text. It grows with them where the browser can. */
export function TextArea({ className = '', ...props }: ComponentProps<'textarea'>) {
  const bad = props['aria-invalid'] ? 'bad' : ''
  return <textarea {...props} className={`in ${bad} ${className}`} />
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

type PasswordFieldProps = Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'type'> & {
  readonly label: string
  readonly aside?: ReactNode
  readonly errors?: readonly string[]
  readonly value: string
  readonly onChange: (value: string) => void
  /** The shortest length of a new password; when set, the field shows how much is missing. */
  readonly lengthMin?: number
}

/** A password that can be shown while it is typed. */
export function PasswordField(props: PasswordFieldProps) {
  const { label, aside, errors, value, onChange, lengthMin, ...attributes } = props
  const t = useText()
  const [isShown, setShown] = useState(false)
  return (
    <div className="grid gap-1.5">
      <Field label={label} aside={aside} errors={errors}>
        {(control) => (
          <Input
            {...attributes}
            {...control}
            type={isShown ? 'text' : 'password'}
            value={value}
            spellCheck={false}
            autoCapitalize="none"
            onChange={(event) => onChange(event.target.value)}
            after={
              <IconButton
                className="eye"
                icon={isShown ? EyeOffIcon : EyeIcon}
                label={isShown ? t.signIn.hidePassword : t.signIn.showPassword}
                aria-pressed={isShown}
                onClick={() => setShown(!isShown)}
              />
            }
          />
        )}
      </Field>
      {lengthMin !== undefined && <LengthMeter have={[...value].length} need={lengthMin} />}
    </div>
  )
}

const BARS = [1, 2, 3, 4]

/** Length is what makes a password hard to guess. */
function LengthMeter({ have, need }: { have: number; need: number }) {
  const t = useText()
  const text = have >= need ? t.setUp.strong : t.setUp.strength(have, need)
  return (
    <div className="meter" role="img" aria-label={text}>
      {BARS.map((bar) => (
        <i key={bar} className={have >= (need * bar) / BARS.length ? 'on' : ''} />
      ))}
    </div>
  )
}

/** Forms that were sent and not changed since. Faults that appear while a person types take no focus. */
const sent = new WeakSet<HTMLFormElement>()
const reporting = new Set<HTMLFormElement>()
const region = document.createElement('div')
region.className = 'sr'
region.role = 'status'
region.ariaLive = 'polite'
document.body.prepend(region)

addEventListener(
  'submit',
  ({ target }) => {
    if (target instanceof HTMLFormElement) sent.add(target)
  },
  { capture: true },
)
addEventListener('input', ({ target }) => {
  const form = target instanceof Element ? target.closest('form') : null
  if (form !== null) sent.delete(form)
})

type FaultCount = (fields: number) => string

/** The words of the last field, in the language that is shown. */
let words: FaultCount | undefined

/** Reports the faults of a form that was sent, when one of its fields becomes faulty; `id` is of an element within it. */
export function useFaultReport(id: string, isFaulty: boolean, count: FaultCount): void {
  useEffect(() => {
    words = count
  }, [count])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the words are no reason to report again
  useEffect(() => {
    if (!isFaulty) return
    const form = document.getElementById(id)?.closest('form')
    if (form && sent.has(form)) reportFaults(form, count)
  }, [id, isFaulty])
}

/** For a form that finds faults by itself, and may show them already: then no field becomes faulty. */
export function noteSent(form: HTMLFormElement): void {
  sent.add(form)
  if (words !== undefined) reportFaults(form, words)
}

/** Focuses the first faulty field of a form once it is drawn, whose text is then read, and announces their number. */
function reportFaults(form: HTMLFormElement, count: FaultCount): void {
  if (reporting.has(form)) return
  reporting.add(form)
  region.textContent = ''
  requestAnimationFrame(() => {
    reporting.delete(form)
    const faulty = form.querySelectorAll<HTMLElement>('[aria-invalid="true"]')
    if (faulty.length === 0) return
    faulty[0]?.focus()
    region.textContent = count(faulty.length)
  })
}
