import { Icon } from '../icons/Icon.tsx'
import { SearchIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { paletteOpen } from './palette-open.ts'
import { keysText } from './shortcuts.ts'

/** Opens the palette from the top bar. */
export function FindButton() {
  const t = useText()
  return (
    <button className="find" type="button" onClick={() => paletteOpen.set(true)}>
      <Icon of={SearchIcon} />
      <span>{t.shell.search}</span>
      <kbd aria-hidden>{keysText('mod+k')}</kbd>
    </button>
  )
}
