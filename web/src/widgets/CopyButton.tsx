import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { CheckIcon, CopyIcon } from '../icons/index.ts'
import type { Catalogue } from '../text/en.ts'
import { useText } from '../text/use-text.ts'
import { IconButton } from './Button.tsx'
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

/**
 * Copies a text, and returns false where the browser refuses. To be called within the gesture, before anything is
 * awaited: WebKit allows no copy after a request. A text that a request answers is therefore given as a promise.
 *
 * @throws the error of the promise
 */
export async function copyText(text: string | Promise<string>): Promise<boolean> {
  const content = Promise.resolve(text)
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blobOf(content) })])
    return true
  } catch {
    return copyByCommand(await content)
  }
}

/** Copies a text as `copyText`, and shows that it was copied, or that the browser refused. */
export async function copyWithMessage(text: string | Promise<string>, t: Catalogue): Promise<void> {
  if (await copyText(text)) showMessage(t.common.copied, { icon: CopyIcon })
  else showError(t.common.notCopied)
}

function blobOf(content: Promise<string>): Promise<Blob> {
  const blob = content.then((text) => new Blob([text], { type: 'text/plain' }))
  // The caller handles the failure of the content; a browser that has refused before no longer looks at it.
  blob.catch(() => {})
  return blob
}

/** The only way on pages over plain HTTP, which have no clipboard. */
function copyByCommand(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'sr'
  document.body.append(area)
  const focused = document.activeElement
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}
