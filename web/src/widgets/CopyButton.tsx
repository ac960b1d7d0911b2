import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { CheckIcon, CopyIcon } from '../icons/index.ts'
import type { Catalogue } from '../text/en.ts'
import { useText } from '../text/use-text.ts'
import { IconButton } from './Button.tsx'
import { copyText } from './copy-text.ts'
import { showTip } from './Tips.tsx'
import { showError, showMessage } from './Toasts.tsx'

const CHECK_MS = 1_500

type CopyButtonProps = {
  readonly text: string
  readonly label: string
  readonly className?: string
  readonly tabIndex?: number
}

/** Copies a text; for 1.5 s the icon is a check, with "Copied" beside it, which screen readers announce. */
export function CopyButton({ text, label, className = '', ...props }: CopyButtonProps) {
  const t = useText()
  const [isCopied, setCopied] = useState(false)
  const timer = useRef<number>(undefined)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => () => clearTimeout(timer.current), [])

  async function copy() {
    if (!(await copyText(text))) return showError(t.common.notCopied)
    flushSync(() => setCopied(true))
    if (button.current !== null) showTip(button.current, CHECK_MS)
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => setCopied(false), CHECK_MS)
  }

  return (
    <>
      <IconButton
        {...props}
        ref={button}
        icon={isCopied ? CheckIcon : CopyIcon}
        label={isCopied ? t.common.copied : label}
        small
        className={isCopied ? `ok ${className}` : className}
        onClick={copy}
      />
      <span className="sr" role="status">
        {isCopied && t.common.copied}
      </span>
    </>
  )
}

/** Copies a text as `copyText`, and shows that it was copied, or that the browser refused. */
export async function copyWithMessage(text: string | Promise<string>, t: Catalogue): Promise<void> {
  if (await copyText(text)) showMessage(t.common.copied, { icon: CopyIcon })
  else showError(t.common.notCopied)
}
