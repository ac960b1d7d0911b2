import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import {
  confirmTotp,
  ME_KEY,
  type MeResource,
  meQuery,
  removeTotp,
  replaceRecoveryCodes,
  setPassword,
  startOidcLink,
  startTotp,
  type TotpSetupResource,
  unlinkIdentity,
} from '../../../api/account.ts'
import { signInOptionsQuery } from '../../../api/session.ts'
import { Icon } from '../../../icons/Icon.tsx'
import { CheckIcon, CopyIcon, DownloadIcon, PrintIcon } from '../../../icons/index.ts'
import { ConfirmDialog, LeaveGuard } from '../../../shell/ConfirmDialog.tsx'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { useChange, useFaults } from '../../../shell/use-faults.ts'
import { useFormats, useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { CopyButton, copyWithMessage } from '../../../widgets/CopyButton.tsx'
import { Dialog, FormDialog } from '../../../widgets/Dialog.tsx'
import { Field, FormNote, Input, PasswordField } from '../../../widgets/Field.tsx'
import { saveFile } from '../../../widgets/save-file.ts'
import { showMessage } from '../../../widgets/Toasts.tsx'
import { Section } from '../Section.tsx'
import { Passkeys } from './Passkeys.tsx'

/** The ways in which the person signs in. */
export default function SecurityPage() {
  const { data: me, error } = useQuery(meQuery)
  if (me === undefined) return error === null ? null : <LoadFailure error={error} />
  return (
    <>
      <PasswordForm me={me} />
      <Passkeys />
      <AuthenticatorApp me={me} />
      <RecoveryCodes me={me} />
      <SingleSignOn me={me} />
    </>
  )
}

/** As the API counts. */
const LENGTH_MIN = 15
const LENGTH_MIN_WITH_FACTOR = 10

function PasswordForm({ me }: { me: MeResource }) {
  const t = useText()
  const client = useQueryClient()
  const [password, setTyped] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => setPassword(password),
    onSuccess() {
      setTyped('')
      showMessage(t.account.passwordChanged)
      void client.invalidateQueries({ queryKey: ME_KEY })
    },
  })
  const faults = useFaults(error, ['password'])
  const hasFactor = me.has_totp || me.passkeys > 0
  const lengthMin = hasFactor ? LENGTH_MIN_WITH_FACTOR : LENGTH_MIN
  return (
    <Section
      title={t.account.password}
      hint={me.has_password ? t.account.passwordHint : t.account.noPassword}
      isFirst
    >
      <form
        className="grid gap-4 max-w-[420px]"
        onSubmit={(event) => {
          event.preventDefault()
          mutate()
        }}
      >
        <LeaveGuard isOn={() => password !== '' && !isPending} />
        <FormNote text={faults.general} />
        {/* Password managers see whose password it is. */}
        <input type="email" autoComplete="username" value={me.email} readOnly hidden />
        <PasswordField
          label={t.account.newPassword}
          aside={<span className="hint">{t.account.passwordAside(lengthMin)}</span>}
          errors={faults.of('password')}
          lengthMin={lengthMin}
          required
          autoComplete="new-password"
          value={password}
          onChange={setTyped}
        />
        <div>
          <Button type="submit" isBusy={isPending}>
            {me.has_password ? t.account.changePassword : t.account.setPassword}
          </Button>
        </div>
      </form>
    </Section>
  )
}

const QrCode = lazy(async () => {
  const { QrCode: code } = await import('../../../widgets/QrPanel.tsx')
  return { default: code }
})

function AuthenticatorApp({ me }: { me: MeResource }) {
  const t = useText()
  const [setup, setSetup] = useState<TotpSetupResource>()
  const [isRemoving, setRemoving] = useState(false)
  const { mutate: start, isPending } = useChange(async () => setSetup(await startTotp()), {
    keys: [],
  })
  return (
    <Section title={t.account.totp} hint={t.account.totpHint}>
      <ul className="rows">
        <li>
          <span className="who">
            {me.has_totp ? (
              <span className="badge ok">
                <Icon of={CheckIcon} />
                {t.account.totpOn}
              </span>
            ) : (
              <span className="badge off">{t.account.totpOff}</span>
            )}
          </span>
          <Button size="small" isBusy={isPending} onClick={() => start(undefined)}>
            {me.has_totp ? t.account.totpReplace : t.account.totpStart}
          </Button>
          {me.has_totp && (
            <Button size="small" onClick={() => setRemoving(true)}>
              {t.account.totpRemove}
            </Button>
          )}
        </li>
      </ul>
      {setup && <SetUpDialog setup={setup} onClose={() => setSetup(undefined)} />}
      {isRemoving && (
        <ConfirmDialog
          title={t.account.totpRemoveTitle}
          text={t.account.totpRemoveText}
          verb={t.account.totpRemove}
          act={removeTotp}
          keys={[ME_KEY]}
          message={t.account.totpRemoved}
          onClose={() => setRemoving(false)}
        />
      )}
    </Section>
  )
}

function SetUpDialog({ setup, onClose }: { setup: TotpSetupResource; onClose: () => void }) {
  const t = useText()
  const client = useQueryClient()
  const [code, setCode] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => confirmTotp(code.replaceAll(/\s/g, '')),
    onSuccess() {
      showMessage(t.account.totpDone)
      void client.invalidateQueries({ queryKey: ME_KEY })
      onClose()
    },
  })
  const faults = useFaults(error, ['code'])
  return (
    <FormDialog
      onClose={onClose}
      onSubmit={() => mutate()}
      title={t.account.totpTitle}
      description={t.account.totpScan}
      verb={t.account.totpConfirm}
      fault={faults.general}
      isBusy={isPending}
    >
      <div className="totp-qr">
        <Suspense fallback={null}>
          <QrCode text={setup.url} label={t.account.totpQr} />
        </Suspense>
      </div>
      <Field label={t.account.totpKey}>
        {(control) => (
          <Input
            {...control}
            className="mono"
            readOnly
            value={setup.secret}
            after={<CopyButton text={setup.secret} label={t.account.copyKey} />}
          />
        )}
      </Field>
      <Field label={t.account.totpCode} errors={faults.of('code')}>
        {(control) => (
          <Input
            {...control}
            className="mono"
            required
            autoFocus
            inputMode="numeric"
            autoComplete="one-time-code"
            value={code}
            onChange={(event) => setCode(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}

function RecoveryCodes({ me }: { me: MeResource }) {
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

/** Nothing where the instance has no single sign-on. */
function SingleSignOn({ me }: { me: MeResource }) {
  const t = useText()
  const { data: options } = useQuery(signInOptionsQuery)
  const { mutate, isPending } = useChange(
    async () => location.assign(await startOidcLink('/app/settings/security')),
    { keys: [] },
  )
  const oidc = options?.oidc
  if (!oidc) return null
  return (
    <Section title={t.account.oidc}>
      <ul className="rows">
        {me.identities.map((identity) => (
          <LinkedAccount key={identity.id} identity={identity} />
        ))}
        {me.identities.length === 0 && (
          <li>
            <span className="who">{t.account.oidcNone}</span>
            <Button size="small" isBusy={isPending} onClick={() => mutate(undefined)}>
              {t.account.oidcLink(oidc.name)}
            </Button>
          </li>
        )}
      </ul>
    </Section>
  )
}

function LinkedAccount({ identity }: { identity: MeResource['identities'][number] }) {
  const t = useText()
  const formats = useFormats()
  const [isAsking, setAsking] = useState(false)
  const { id, issuer, linked_at: linkedAt } = identity
  return (
    <li>
      <span className="who">{t.account.oidcLinked(issuer)}</span>
      <span className="col">{formats.day(new Date(linkedAt))}</span>
      <Button
        size="small"
        aria-label={`${t.account.oidcUnlink}: ${issuer}`}
        onClick={() => setAsking(true)}
      >
        {t.account.oidcUnlink}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={t.account.oidcUnlinkAsk(issuer)}
          text={t.account.oidcUnlinkText}
          verb={t.account.oidcUnlink}
          act={() => unlinkIdentity(id)}
          keys={[ME_KEY]}
          message={t.account.oidcUnlinked(issuer)}
          onClose={() => setAsking(false)}
        />
      )}
    </li>
  )
}
