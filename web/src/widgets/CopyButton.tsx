import { useEffect, useRef, useState } from 'react'
import { CheckIcon, CopyIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { IconButton } from './IconButton.tsx'

const CHECK_MS = 1_500

type CopyButtonProps = {
  readonly text: string
  readonly label: string
  readonly className?: string
}

/** Copies a text; the icon becomes a check for 1.5 s, which screen readers announce. */
export function CopyButton({ text, label, className = '' }: CopyButtonProps) {
  const t = useText()
  const [isCopied, setCopied] = useState(false)
  const timer = useRef<number>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  async function copy() {
    if (!(await copyText(text))) return
    setCopied(true)
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => setCopied(false), CHECK_MS)
  }

  return (
    <>
      <IconButton
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

/** Returns false where the browser refuses. Pages over plain HTTP have no clipboard but the old command. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.className = 'sr'
    document.body.append(area)
    area.select()
    const isCopied = document.execCommand('copy')
    area.remove()
    return isCopied
  }
}
