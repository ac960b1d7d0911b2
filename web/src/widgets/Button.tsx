import type { ComponentProps, ReactNode } from 'react'
import { Icon, type IconNode } from '../icons/Icon.tsx'
import { tip } from './Tips.tsx'

type ButtonProps = ComponentProps<'button'> & {
  /** `ink` is the one act of a page; `danger` only stands in a dialog that confirms. */
  readonly look?: 'outlined' | 'ink' | 'bare' | 'danger'
  readonly size?: 'normal' | 'small' | 'large'
  readonly icon?: IconNode
  /** The shortcut, shown on desktops. */
  readonly shortcut?: string
  /** Keeps its width, shows a spinner and refuses clicks. */
  readonly isBusy?: boolean
}

const LOOKS = { outlined: '', ink: 'btn-ink', bare: 'btn-bare', danger: 'btn-danger' }
const SIZES = { normal: '', small: 'btn-sm', large: 'btn-lg' }

export function Button(props: ButtonProps) {
  const { look = 'outlined', size = 'normal', icon, shortcut, isBusy = false, ...rest } = props
  const { children, className = '', onClick, ...attributes } = rest
  return (
    <button
      type="button"
      {...attributes}
      className={buttonClass({ look, size, className })}
      aria-busy={isBusy || undefined}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
    >
      <ButtonContent icon={icon} shortcut={shortcut} isBusy={isBusy}>
        {children}
      </ButtonContent>
    </button>
  )
}

/** For links that look like buttons. */
export function buttonClass(options: {
  look?: keyof typeof LOOKS
  size?: keyof typeof SIZES
  className?: string
}): string {
  const { look = 'outlined', size = 'normal', className = '' } = options
  return ['btn', LOOKS[look], SIZES[size], className].filter(Boolean).join(' ')
}

type ContentProps = {
  readonly icon?: IconNode | undefined
  readonly shortcut?: string | undefined
  readonly isBusy?: boolean
  readonly children: ReactNode
}

export function ButtonContent({ icon, shortcut, isBusy = false, children }: ContentProps) {
  return (
    <>
      {isBusy ? <span className="spin" aria-hidden /> : icon !== undefined && <Icon of={icon} />}
      {children}
      {shortcut !== undefined && (
        <kbd className="desk" aria-hidden>
          {shortcut}
        </kbd>
      )}
    </>
  )
}

type IconButtonProps = Omit<ComponentProps<'button'>, 'children'> & {
  readonly icon: IconNode
  /** The accessible name, and the tooltip. */
  readonly label: string
  readonly shortcut?: string
  readonly small?: boolean
  /** Shows a spinner and refuses clicks. */
  readonly isBusy?: boolean
}

export function IconButton(props: IconButtonProps) {
  const { icon, label, shortcut, small, isBusy = false, className, onClick, ...rest } = props
  return (
    <button
      type="button"
      {...rest}
      {...tip(label, shortcut)}
      aria-label={label}
      aria-busy={isBusy || undefined}
      className={`ib ${className ?? ''}`}
      onClick={isBusy ? undefined : onClick}
    >
      {isBusy ? <span className="spin" aria-hidden /> : <Icon of={icon} small={small ?? false} />}
    </button>
  )
}
