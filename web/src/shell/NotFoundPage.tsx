import { Link } from '@tanstack/react-router'
import { useText } from '../text/use-text.ts'
import { buttonClass } from '../widgets/Button.tsx'
import { Brand } from './Brand.tsx'

export function NotFoundPage() {
  const t = useText()
  return (
    <div className="solo">
      <header>
        <Brand />
      </header>
      <main>
        <div className="box">
          <h1>{t.common.notFound}</h1>
          <Link to="/links" className={buttonClass({})}>
            {t.shell.links}
          </Link>
        </div>
      </main>
    </div>
  )
}
