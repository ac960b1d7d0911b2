import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeName, ME_KEY } from '../../../api/me.ts'
import { sessionQuery } from '../../../api/session.ts'
import { LeaveGuard } from '../../../shell/LeaveGuard.tsx'
import { singleKeys } from '../../../shell/shortcuts.ts'
import { useFaults } from '../../../shell/use-faults.ts'
import { useMembership } from '../../../shell/use-membership.ts'
import { usePreference } from '../../../state/preference.ts'
import { setTheme, THEMES, type Theme, theme } from '../../../state/theme.ts'
import {
  LANGUAGES,
  type LanguageChoice,
  languageChoice,
  setLanguage,
} from '../../../text/language.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { Field, Input, Select } from '../../../widgets/Field.tsx'
import { FormNote } from '../../../widgets/FormNote.tsx'
import { showMessage } from '../../../widgets/toasts.ts'
import { Section } from '../Section.tsx'
import { EmailField } from './EmailField.tsx'

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
