import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { signOut } from '../api/session.ts'
import { InfoIcon, SettingsIcon, SignOutIcon } from '../icons/index.ts'
import { usePreference } from '../state/preference.ts'
import { setTheme, THEMES, theme } from '../state/theme.ts'
import { LANGUAGES, type LanguageChoice, languageChoice, setLanguage } from '../text/language.ts'
import { useText } from '../text/use-text.ts'
import { Avatar } from '../widgets/Avatar.tsx'
import { Menu, MenuChoice, MenuItem, MenuSeparator } from '../widgets/Menu.tsx'
import { endUndoOffers } from '../widgets/toasts.ts'
import { LICENCES_ADDRESS } from './SoloPage.tsx'
import { useMembership } from './use-membership.ts'

/** The person, with theme, language and the way out. */
export function AccountMenu() {
  const t = useText()
  const { name } = useMembership().session.person
  const trigger = (
    <button className="me" type="button">
      <span className="sr">{t.shell.account}</span>
      <Avatar name={name} isOwn />
      <span className="grow cut text-left">{name}</span>
    </button>
  )
  return (
    <Menu trigger={trigger} align="start" side="top">
      <AccountItems />
    </Menu>
  )
}

export function AccountItems() {
  const t = useText()
  const client = useQueryClient()
  const navigate = useNavigate()
  const chosenTheme = usePreference(theme)
  const chosenLanguage = usePreference(languageChoice)
  const languages: readonly (readonly [LanguageChoice, string])[] = [
    ['system', t.shell.languageSystem],
    ['en', LANGUAGES.en],
    ['de', LANGUAGES.de],
  ]

  async function leave() {
    endUndoOffers()
    await signOut()
    client.clear()
    await navigate({ to: '/sign-in' })
  }

  return (
    <>
      <MenuChoice
        label={t.shell.theme}
        value={chosenTheme}
        choices={THEMES.map((one) => [one, t.shell.themes[one]] as const)}
        onChange={setTheme}
      />
      <MenuSeparator />
      <MenuChoice
        label={t.shell.language}
        value={chosenLanguage}
        choices={languages}
        onChange={setLanguage}
      />
      <MenuSeparator />
      <MenuItem icon={SettingsIcon} render={<Link to="/settings/profile" />}>
        {t.shell.settings}
      </MenuItem>
      <MenuItem icon={InfoIcon} render={<a href={LICENCES_ADDRESS} />}>
        {t.shell.licences}
      </MenuItem>
      <MenuItem icon={SignOutIcon} onSelect={leave}>
        {t.shell.signOut}
      </MenuItem>
    </>
  )
}
