import type { ComponentProps } from 'react'
import { Icon, type IconNode } from '../icons/Icon.tsx'
import { tip } from './tip.ts'

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
