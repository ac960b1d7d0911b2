import { Link } from '@tanstack/react-router'
import { InfoIcon, ProfileIcon, SignOutIcon } from '../icons/index.ts'
import { usePreference } from '../state/preference.ts'
import { setTheme, THEMES, theme } from '../state/theme.ts'
import { LANGUAGE_CHOICES, languageChoice, languageName, setLanguage } from '../text/language.ts'
import { useText } from '../text/use-text.ts'
import { Avatar } from '../widgets/Avatar.tsx'
import { Menu, MenuChoice, MenuItem, MenuSeparator } from '../widgets/Menu.tsx'
import { LICENCES_ADDRESS } from './SoloPage.tsx'
import { useMembership } from './use-membership.ts'
import { useSignOut } from './use-sign-out.ts'

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
  const signOut = useSignOut()
  const chosenTheme = usePreference(theme)
  const chosenLanguage = usePreference(languageChoice)
  const languages = LANGUAGE_CHOICES.map((one) => [one, languageName(one, t)] as const)
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
      <MenuItem icon={ProfileIcon} render={<Link to="/settings/profile" />}>
        {t.settings.pages.profile}
      </MenuItem>
      <MenuItem icon={InfoIcon} render={<a href={LICENCES_ADDRESS} />}>
        {t.shell.licences}
      </MenuItem>
      <MenuItem icon={SignOutIcon} onSelect={signOut}>
        {t.shell.signOut}
      </MenuItem>
    </>
  )
}
