import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ME_KEY, type MeResource, replaceRecoveryCodes } from '../../../api/me.ts'
import { CopyIcon, DownloadIcon, PrintIcon } from '../../../icons/index.ts'
import { ConfirmDialog } from '../../../shell/ConfirmDialog.tsx'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { copyWithMessage } from '../../../widgets/copy.ts'
import { Dialog } from '../../../widgets/Dialog.tsx'
import { saveFile } from '../../../widgets/save-file.ts'
import { Section } from '../Section.tsx'

export function RecoveryCodes({ me }: { me: MeResource }) {
  const t = useText()
  const client = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const [codes, setCodes] = useState<readonly string[]>()
  const hasFactor = me.has_totp || me.passkeys > 0
  const left = me.recovery_codes_left
  return (
    <Section title={t.account.recovery} hint={t.account.recoveryHint}>
      <ul className="rows">
        <li>
          <span className="who">
            <span className={hasFactor && left === 0 ? 'badge warn' : 'badge'}>
              {hasFactor ? t.account.recoveryLeft(left) : t.account.recoveryNeeds}
            </span>
          </span>
          {hasFactor && (
            <Button size="small" onClick={() => setAsking(true)}>
              {t.account.recoveryNew}
            </Button>
          )}
        </li>
      </ul>
      {isAsking && (
        <ConfirmDialog
          title={t.account.recoveryAsk}
          text={t.account.recoveryAskText}
          verb={t.account.recoveryNew}
          look="ink"
          act={async () => setCodes(await replaceRecoveryCodes())}
          onClose={() => setAsking(false)}
        />
      )}
      {codes && (
        <CodesDialog
          codes={codes}
          onClose={() => {
            setCodes(undefined)
            void client.invalidateQueries({ queryKey: ME_KEY })
          }}
        />
      )}
    </Section>
  )
}

type CodesDialogProps = { readonly codes: readonly string[]; readonly onClose: () => void }

/** Only its button closes it, so that no key loses the codes. */
function CodesDialog({ codes, onClose }: CodesDialogProps) {
  const t = useText()
  const text = `${t.account.recoveryFile} (${location.host})\n\n${codes.join('\n')}\n`

  function download() {
    const file = new Blob([text], { type: 'text/plain' })
    saveFile(file, `terse-recovery-codes-${location.hostname}.txt`)
  }

  return (
    <Dialog
      isOpen
      isFirm
      onClose={() => {}}
      title={t.account.recoveryTitle}
      description={`${t.account.recoveryText} ${t.settings.shownOnce}`}
      footer={
        <Button look="ink" autoFocus onClick={onClose}>
          {t.account.recoverySaved}
        </Button>
      }
    >
      <div className="printed grid gap-3 pt-2">
        <h3 className="only-print">{`${t.account.recoveryFile} · ${location.host}`}</h3>
        <ol className="codes mono">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ol>
      </div>
      <div className="flex gap-2 pt-2">
        <Button
          size="small"
          icon={CopyIcon}
          onClick={() => void copyWithMessage(codes.join('\n'), t)}
        >
          {t.account.copyCodes}
        </Button>
        <Button size="small" icon={DownloadIcon} onClick={download}>
          {t.account.download}
        </Button>
        <Button size="small" icon={PrintIcon} onClick={() => window.print()}>
          {t.account.print}
        </Button>
      </div>
    </Dialog>
  )
}
