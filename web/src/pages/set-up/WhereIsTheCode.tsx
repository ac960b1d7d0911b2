import { Icon } from '../../icons/Icon.tsx'
import { ShieldIcon } from '../../icons/index.ts'
import { useText } from '../../text/use-text.ts'
import { CopyButton } from '../../widgets/CopyButton.tsx'

const COMMAND = 'npx terse setup'

/** Where the link of the set-up was printed, and how to print another. */
export function WhereIsTheCode() {
  const t = useText()
  return (
    <aside className="r" aria-labelledby="where">
      <div className="grid gap-4 w-full max-w-[520px] mx-auto">
        <div className="grid gap-1">
          <h2 className="sec-h" id="where">
            {t.setUp.where}
          </h2>
          <p className="muted">{t.setUp.whereHint}</p>
        </div>
        <div className="term" role="img" aria-label={t.setUp.terminal}>
          <span className="dim">$</span> npm start{'\n\n'}
          <span className="ac">{t.setUp.running}</span> {t.setUp.runningAt} {location.origin}
          {'\n\n'}
          {t.setUp.nobody}
          {'\n\n  '}
          {location.origin}/app/setup#code=<span className="hi">{t.setUp.yourCode}</span>
        </div>
        <p className="muted">{t.setUp.lost}</p>
        <div className="cmd">
          <div className="term">
            <span className="dim">$</span> {COMMAND}
          </div>
          <CopyButton text={COMMAND} label={t.setUp.copyCommand} />
        </div>
        <div className="note">
          <Icon of={ShieldIcon} />
          <span>{t.setUp.note}</span>
        </div>
      </div>
    </aside>
  )
}
