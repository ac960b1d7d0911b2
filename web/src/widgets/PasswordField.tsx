import { type ComponentProps, type ReactNode, useState } from 'react'
import { EyeIcon, EyeOffIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { IconButton } from './Button.tsx'
import { Field, Input } from './Field.tsx'

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
