import { useState } from 'react'
import { CheckIcon, CopyIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { Button } from '../widgets/Button.tsx'
import { copyText } from '../widgets/CopyButton.tsx'
import { Dialog } from '../widgets/Dialog.tsx'
import { Field, Input } from '../widgets/Field.tsx'
import { showError } from '../widgets/Toasts.tsx'

type SecretDialogProps = {
  readonly title: string
  readonly text: string
  /** The name of the secret. */
  readonly label: string
  readonly secret: string
  readonly copyLabel: string
  readonly onClose: () => void
}

/** A link or token that is shown once. Only its button closes it, so that no key loses the secret. */
export function SecretDialog({
  title,
  text,
  label,
  secret,
  copyLabel,
  onClose,
}: SecretDialogProps) {
  const t = useText()
  const [isCopied, setCopied] = useState(false)

  async function copy() {
    const isDone = await copyText(secret)
    setCopied(isDone)
    if (!isDone) showError(t.common.notCopied)
  }

  return (
    <Dialog
      isFirm
      onClose={() => {}}
      title={title}
      description={`${text} ${t.settings.shownOnce}`}
      footer={
        <>
          <Button onClick={onClose}>{t.settings.done}</Button>
          <Button look="ink" autoFocus icon={isCopied ? CheckIcon : CopyIcon} onClick={copy}>
            {isCopied ? t.common.copied : copyLabel}
          </Button>
          <span className="sr" role="status">
            {isCopied && t.common.copied}
          </span>
        </>
      }
    >
      <Field label={label}>
        {(control) => (
          <Input
            {...control}
            className="mono"
            readOnly
            value={secret}
            onFocus={(event) => event.target.select()}
          />
        )}
      </Field>
    </Dialog>
  )
}
