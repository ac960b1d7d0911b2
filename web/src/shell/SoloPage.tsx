import { type ReactNode, useEffect } from 'react'
import { Icon } from '../icons/Icon.tsx'
import { DarkThemeIcon, DesktopIcon, LightThemeIcon } from '../icons/index.ts'
import { usePreference } from '../state/preference.ts'
import { setTheme, theme } from '../state/theme.ts'
import { useText } from '../text/use-text.ts'
import { SegmentedControl } from '../widgets/SegmentedControl.tsx'
import { Brand } from './Brand.tsx'
import { AtServiceAddress } from './OtherAddress.tsx'

/** The licences of what the dashboard contains, a file of the build. */
export const LICENCES_ADDRESS = '/app/licences.txt'

type SoloPageProps = {
  /** The page's own heading too, unless it has another. */
  readonly title: string
  readonly heading?: ReactNode
  /** Left in the last line. */
  readonly footer?: ReactNode
  readonly children: ReactNode
}

/** A page before a sign-in: one narrow column. */
export function SoloPage({ title, heading = title, footer, children }: SoloPageProps) {
  const t = useText()
  useTabTitle(title)
  return (
    <div className="solo">
      <header>
        <Brand />
        <span className="end mono">{location.host}</span>
      </header>
      <main>
        <div className="box">
          <h1>{heading}</h1>
          <AtServiceAddress>{children}</AtServiceAddress>
        </div>
      </main>
      <footer>
        {footer && <span>{footer}</span>}
        <a href={LICENCES_ADDRESS}>{t.shell.licences}</a>
        <ThemeSwitch />
      </footer>
    </div>
  )
}

export function useTabTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Terse`
  }, [title])
}

const THEME_ICONS = [
  ['light', LightThemeIcon],
  ['system', DesktopIcon],
  ['dark', DarkThemeIcon],
] as const

export function ThemeSwitch() {
  const t = useText()
  const chosen = usePreference(theme)
  return (
    <div className="end">
      <SegmentedControl
        label={t.shell.theme}
        value={chosen}
        choices={THEME_ICONS.map(
          ([one, icon]) => [one, t.shell.themes[one], <Icon key={one} of={icon} small />] as const,
        )}
        onChange={setTheme}
      />
    </div>
  )
}
