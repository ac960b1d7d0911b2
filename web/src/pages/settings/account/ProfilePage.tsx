import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeEmail, changeName, confirmEmail, ME_KEY } from '../../../api/account.ts'
import { sessionQuery } from '../../../api/session.ts'
import { LeaveGuard } from '../../../shell/ConfirmDialog.tsx'
import { singleKeys } from '../../../shell/shortcuts.ts'
import { useFaults } from '../../../shell/use-faults.ts'
import { useMembership } from '../../../shell/use-membership.ts'
import { codeOf, takeLinkCode } from '../../../state/link-code.ts'
import { setTheme, THEMES, type Theme, theme, usePreference } from '../../../state/preference.ts'
import {
  LANGUAGES,
  type LanguageChoice,
  languageChoice,
  setLanguage,
} from '../../../text/language.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { FormDialog } from '../../../widgets/Dialog.tsx'
import { Field, FormNote, Input, Select } from '../../../widgets/Field.tsx'
import { showMessage } from '../../../widgets/Toasts.tsx'
import { Section } from '../Section.tsx'

/** The person, and how the dashboard looks in this browser. */
export default function ProfilePage() {
  return (
    <>
      <NameForm />
      <Appearance />
    </>
  )
}

function NameForm() {
  const t = useText()
  const client = useQueryClient()
  const { person } = useMembership().session
  const [name, setName] = useState(person.name)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => changeName(name),
    async onSuccess() {
      void client.invalidateQueries({ queryKey: ME_KEY })
      await client.refetchQueries({ queryKey: sessionQuery.queryKey })
      showMessage(t.settings.saved)
    },
  })
  const faults = useFaults(error, ['name'])
  const isChanged = name !== person.name
  return (
    <Section title={t.account.profile} isFirst>
      <form
        className="grid gap-4 max-w-[420px]"
        onSubmit={(event) => {
          event.preventDefault()
          mutate()
        }}
      >
        <LeaveGuard isOn={() => isChanged && !isPending} />
        <FormNote text={faults.general} />
        <Field label={t.account.name} hint={t.account.nameHint} errors={faults.of('name')}>
          {(control) => (
            <Input
              {...control}
              required
              autoComplete="name"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <div>
          <Button type="submit" isBusy={isPending} disabled={!isChanged}>
            {t.account.save}
          </Button>
        </div>
      </form>
      <div className="max-w-[420px] pt-6">
        <EmailField email={person.email} />
      </div>
    </Section>
  )
}

function Appearance() {
  const t = useText()
  const chosenTheme = usePreference(theme)
  const chosenLanguage = usePreference(languageChoice)
  const areKeysOn = usePreference(singleKeys) === 'on'
  return (
    <Section title={t.account.appearance} hint={t.account.appearanceHint}>
      <div className="grid gap-4 max-w-[420px]">
        <Field label={t.shell.theme}>
          {(control) => (
            <Select
              {...control}
              value={chosenTheme}
              onChange={(event) => setTheme(event.target.value as Theme)}
            >
              {THEMES.map((one) => (
                <option key={one} value={one}>
                  {t.shell.themes[one]}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label={t.shell.language}>
          {(control) => (
            <Select
              {...control}
              value={chosenLanguage}
              onChange={(event) => setLanguage(event.target.value as LanguageChoice)}
            >
              <option value="system">{t.shell.languageSystem}</option>
              {Object.entries(LANGUAGES).map(([language, name]) => (
                <option key={language} value={language} lang={language}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <label className="flex gap-2 items-start text-13">
          <input
            type="checkbox"
            className="cb mt-0.5"
            checked={areKeysOn}
            onChange={(event) => singleKeys.set(event.target.checked ? null : 'off')}
          />
          <span>
            {t.shortcuts.singleKeys}
            <span className="hint block">{t.shortcuts.singleKeysHint}</span>
          </span>
        </label>
      </div>
    </Section>
  )
}

/** The address with which the person signs in. The link of a mail opens the page with its code. */
function EmailField({ email }: { email: string }) {
  const t = useText()
  const [codeOfLink] = useState(takeLinkCode)
  const [step, setStep] = useState<'address' | 'code' | undefined>(
    codeOfLink === undefined ? undefined : 'code',
  )
  const close = () => setStep(undefined)
  return (
    <>
      <Field label={t.account.email} hint={t.account.emailHint}>
        {(control) => (
          <div className="flex gap-2">
            <Input {...control} type="email" readOnly value={email} />
            <Button className="h-auto" onClick={() => setStep('address')}>
              {t.account.changeEmail}
            </Button>
          </div>
        )}
      </Field>
      {step === 'address' && <AddressDialog onMailed={() => setStep('code')} onClose={close} />}
      {step === 'code' && <CodeDialog codeOfLink={codeOfLink} onClose={close} />}
    </>
  )
}

/** Returns what shows the new address everywhere. */
function useChanged(): () => Promise<void> {
  const t = useText()
  const client = useQueryClient()
  return async () => {
    void client.invalidateQueries({ queryKey: ME_KEY })
    await client.refetchQueries({ queryKey: sessionQuery.queryKey })
    showMessage(t.account.emailChanged)
  }
}

function AddressDialog({ onMailed, onClose }: { onMailed: () => void; onClose: () => void }) {
  const t = useText()
  const showChanged = useChanged()
  const [email, setEmail] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => changeEmail(email),
    async onSuccess({ status }) {
      if (status === 'mailed') return onMailed()
      await showChanged()
      onClose()
    },
  })
  const faults = useFaults(error, ['email'])
  return (
    <FormDialog
      title={t.account.changeEmailTitle}
      verb={t.account.changeEmail}
      fault={faults.general}
      isBusy={isPending}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <Field label={t.account.newEmail} hint={t.account.newEmailHint} errors={faults.of('email')}>
        {(control) => (
          <Input
            {...control}
            type="email"
            required
            autoFocus
            autoComplete="email"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}

type CodeDialogProps = { readonly codeOfLink: string | undefined; readonly onClose: () => void }

function CodeDialog({ codeOfLink, onClose }: CodeDialogProps) {
  const t = useText()
  const showChanged = useChanged()
  const [code, setCode] = useState(codeOfLink ?? '')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => confirmEmail(code.trim()),
    async onSuccess() {
      await showChanged()
      onClose()
    },
  })
  const faults = useFaults(error, ['code'])
  return (
    <FormDialog
      title={t.account.confirmEmailTitle}
      verb={t.account.confirmEmail}
      fault={faults.general}
      isBusy={isPending}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <Field label={t.account.emailCode} hint={t.account.emailCodeHint} errors={faults.of('code')}>
        {(control) => (
          <Input
            {...control}
            className="mono"
            required
            autoFocus
            autoComplete="off"
            spellCheck={false}
            value={code}
            onChange={(event) => setCode(codeOf(event.target.value) ?? event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}
