import { type ReactNode, useId, useState } from 'react'
import { Icon } from '../../icons/Icon.tsx'
import { ChevronDownIcon, ChevronRightIcon } from '../../icons/index.ts'

type BlockProps = {
  readonly title: string
  /** What the block holds, in few words; shown right of the title. */
  readonly summary?: ReactNode
  /** Open at first: it holds something, or an error. */
  readonly isFilled: boolean
  readonly hasErrors: boolean
  readonly children: ReactNode
}

/** A part of the form that is folded while it is empty. */
export function Block({ title, summary, isFilled, hasErrors, children }: BlockProps) {
  const id = useId()
  const [isOpen, setOpen] = useState(isFilled)
  const isShown = isOpen || hasErrors
  return (
    <section className="fold">
      <h2 className="sec-h">
        <button
          type="button"
          className="bh"
          aria-expanded={isShown}
          aria-controls={isShown ? id : undefined}
          onClick={() => setOpen(!isShown)}
        >
          <Icon of={isShown ? ChevronDownIcon : ChevronRightIcon} />
          <span className="flex-none">{title}</span>
          <span className="sum">{summary}</span>
        </button>
      </h2>
      {isShown && (
        <div id={id} className="grid gap-4">
          {children}
        </div>
      )}
    </section>
  )
}
