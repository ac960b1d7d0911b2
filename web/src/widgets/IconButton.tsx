import type { ComponentProps } from 'react'
import { Icon, type IconNode } from '../icons/Icon.tsx'
import { Tooltip } from './Tooltip.tsx'

type IconButtonProps = Omit<ComponentProps<'button'>, 'children'> & {
  readonly icon: IconNode
  /** The accessible name, and the tooltip. */
  readonly label: string
  readonly shortcut?: string
  readonly small?: boolean
}

export function IconButton({ icon, label, shortcut, small, className, ...props }: IconButtonProps) {
  return (
    <Tooltip text={label} shortcut={shortcut}>
      <button type="button" {...props} aria-label={label} className={`ib ${className ?? ''}`}>
        <Icon of={icon} small={small ?? false} />
      </button>
    </Tooltip>
  )
}
