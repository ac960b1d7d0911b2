import { useNavigate } from '@tanstack/react-router'
import {
  AddIcon,
  ChevronsUpDownIcon,
  ImportIcon,
  InviteIcon,
  KeyIcon,
  LanguageIcon,
  SettingsIcon,
  SignOutIcon,
  ThemeIcon,
} from '../icons/index.ts'
import { setTheme, THEMES } from '../state/preference.ts'
import { LANGUAGE_CHOICES, languageName, setLanguage } from '../text/language.ts'
import { useText } from '../text/use-text.ts'
import { PLACES } from './Navigation.tsx'
import type { PaletteEntry } from './palette-entry.ts'
import { SETTINGS_PLACES, useMaySee } from './settings-places.ts'
import { useChangeWorkspace, useMembership, useSignOut } from './use-membership.ts'

type Command = Pick<PaletteEntry, 'id' | 'icon' | 'name' | 'also' | 'run'>

/** What can be done from everywhere, as the role allows. */
export function useCommands(onShortcuts: () => void): readonly PaletteEntry[] {
  const t = useText()
  const makes = useMakeCommands()
  const goes = useGoCommands()
  const signOut = useSignOut()
  const commands: Command[] = [
    ...makes,
    ...goes,
    ...THEMES.map((theme) => ({
      id: `theme-${theme}`,
      icon: ThemeIcon,
      name: `${t.shell.theme}: ${t.shell.themes[theme]}`,
      also: t.palette.also.theme,
      run: () => setTheme(theme),
    })),
    ...LANGUAGE_CHOICES.map((choice) => ({
      id: `language-${choice}`,
      icon: LanguageIcon,
      name: `${t.shell.language}: ${languageName(choice, t)}`,
      // For who cannot read the language that is shown.
      also: 'language Sprache',
      run: () => setLanguage(choice),
    })),
    {
      id: 'sign-out',
      icon: SignOutIcon,
      name: t.shell.signOut,
      also: t.palette.also.signOut,
      run: () => void signOut(),
    },
    { id: 'shortcuts', icon: KeyIcon, name: t.shortcuts.title, run: onShortcuts },
  ]
  return commands.map((command) => ({ ...command, group: t.palette.commands }))
}

function useMakeCommands(): readonly Command[] {
  const t = useText()
  const navigate = useNavigate()
  const { may } = useMembership()
  const create: Command = {
    id: 'create',
    icon: AddIcon,
    name: t.shell.createLink,
    run: () => void navigate({ to: '/links/new' }),
  }
  const addDomain: Command = {
    id: 'add-domain',
    icon: AddIcon,
    name: t.domains.add,
    run: () => void navigate({ to: '/domains', search: { add: 'yes' } }),
  }
  const invite: Command = {
    id: 'invite',
    icon: InviteIcon,
    name: t.palette.invite,
    also: t.palette.also.invite,
    run: () => void navigate({ to: '/settings/members', search: { invite: 'yes' } }),
  }
  const startImport: Command = {
    id: 'import',
    icon: ImportIcon,
    name: t.imports.start,
    run: () => void navigate({ to: '/settings/imports/new' }),
  }
  return [
    ...(may('member') ? [create] : []),
    ...(may('admin') ? [addDomain, invite] : []),
    ...(may('member') ? [startImport] : []),
  ]
}

/** To the pages, those of the settings, and the other workspaces. */
function useGoCommands(): readonly Command[] {
  const t = useText()
  const navigate = useNavigate()
  const maySee = useMaySee()
  const change = useChangeWorkspace()
  const { session, membership } = useMembership()
  const others = session.memberships.filter(
    ({ workspace_id: id }) => id !== membership?.workspace_id,
  )
  return [
    ...PLACES.map(({ to, icon, name }) => ({
      id: to.slice(1),
      icon,
      name: t.palette.goTo(name(t)),
      run: () => void navigate({ to }),
    })),
    ...SETTINGS_PLACES.filter(maySee).map(({ to, name }) => ({
      id: to.replaceAll('/', '-'),
      icon: SettingsIcon,
      name: t.palette.settings(t.settings.pages[name]),
      run: () => void navigate({ to }),
    })),
    ...others.map(({ workspace_id: id, workspace_title: name }) => ({
      id,
      icon: ChevronsUpDownIcon,
      name: t.palette.workspace(name),
      run: () => void change(id),
    })),
  ]
}
