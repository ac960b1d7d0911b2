import { useObservable } from '../state/observable.ts'
import { usePreference } from '../state/preference.ts'
import { useText } from '../text/use-text.ts'
import { Dialog } from '../widgets/Dialog.tsx'
import { keysText, shortcuts, singleKeys } from './shortcuts.ts'

export default function ShortcutList({ onClose }: { onClose: () => void }) {
  const t = useText()
  const list = useObservable(shortcuts)
  const isOn = usePreference(singleKeys) === 'on'
  return (
    <Dialog onClose={onClose} title={t.shortcuts.title}>
      <ul className="quiet">
        {list.map((shortcut) => (
          <li key={shortcut.keys}>
            <span>{shortcut.label(t)}</span>
            <kbd>{keysText(shortcut.keys)}</kbd>
          </li>
        ))}
      </ul>
      <label className="flex gap-2 items-start text-13">
        <input
          type="checkbox"
          className="cb mt-0.5"
          checked={isOn}
          onChange={(event) => singleKeys.set(event.target.checked ? null : 'off')}
        />
        <span>
          {t.shortcuts.singleKeys}
          <span className="hint block">{t.shortcuts.singleKeysHint}</span>
        </span>
      </label>
    </Dialog>
  )
}
