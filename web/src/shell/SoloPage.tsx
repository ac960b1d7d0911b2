import { type ReactNode, useEffect } from 'react'
import { Icon } from '../icons/Icon.tsx'
import { DarkThemeIcon, DesktopIcon, LightThemeIcon } from '../icons/index.ts'
import { setTheme, theme, usePreference } from '../state/preference.ts'
import { useText } from '../text/use-text.ts'
import { SegmentedControl } from '../widgets/SegmentedControl.tsx'
import { AtServiceAddress } from './SignInForm.tsx'

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

export function Brand() {
  return (
    <span className="brand">
      <svg className="mark" viewBox="0 0 24 24" aria-hidden="true">
        <path
          fill="currentColor"
          d="M3.2 4h15.6a1.2 1.2 0 0 1 1.2 1.2v1.9a1.2 1.2 0 0 1-1.2 1.2h-5v10.5a1.2 1.2 0 0 1-1.2 1.2h-2.2a1.2 1.2 0 0 1-1.2-1.2V8.3h-6A1.2 1.2 0 0 1 2 7.1V5.2A1.2 1.2 0 0 1 3.2 4Z"
        />
        <circle className="dot" cx="17.65" cy="17.55" r="2.35" />
      </svg>
      Terse
    </span>
  )
}
