import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { destinationOf } from '../../api/destination.ts'
import { LINKS_KEY } from '../../api/links.ts'
import { Icon } from '../../icons/Icon.tsx'
import { AlertIcon, LinkIcon } from '../../icons/index.ts'
import { createAndCopy } from '../../shell/create-and-copy.ts'
import { DomainSelect } from '../../shell/DomainSelect.tsx'
import { SignInCancelled } from '../../shell/sign-in-cancelled.ts'
import { errorText } from '../../shell/use-faults.ts'
import { useServiceHost } from '../../shell/use-service-host.ts'
import { useStartDomain } from '../../shell/use-start-domain.ts'
import { randomId } from '../../state/random-id.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { noteSent, useFaultReport } from '../../widgets/form-faults.ts'
import { focusWhenShown } from './row-focus.ts'

/** The form itself, then the same in a terminal. */
export function EmptyLinks() {
  const t = useText()
  const client = useQueryClient()
  const [url, setUrl] = useState('')
  const start = useStartDomain()
  const ownHost = useServiceHost()
  const [chosenDomain, setDomain] = useState<string>()
  const domain = chosenDomain ?? start.host ?? ownHost
  const [key, setKey] = useState('')
  const [errors, setErrors] = useState<readonly string[]>([])
  const [isBusy, setBusy] = useState(false)
  const [requestId] = useState(randomId)
  const id = useId()
  useFaultReport(id, errors.length > 0, t.common.problems)

  async function create(form: HTMLFormElement) {
    noteSent(form)
    const destination = destinationOf(url)
    if (destination === undefined) return setErrors([t.linkForm.invalidUrl])
    setErrors([])
    setBusy(true)
    try {
      const fields = { url: destination, domain, ...(key !== '' && { key }) }
      const { id } = await createAndCopy(fields, requestId, t)
      start.remember(domain)
      await client.invalidateQueries({ queryKey: LINKS_KEY })
      focusWhenShown(id)
    } catch (error) {
      setErrors(error instanceof SignInCancelled ? [] : [errorText(error as Error, t)])
    } finally {
      setBusy(false)
    }
  }

  const command = `curl ${location.origin}/api/v1/links \\
  -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"domain":"${domain}","url":"https://example.com/"}'`
  return (
    <div className="empty">
      <div>
        <div className="grid gap-1">
          <h2>{t.empty.title}</h2>
          <p className="muted">{t.empty.hint}</p>
        </div>
        <form
          className="quick"
          onSubmit={(event) => {
            event.preventDefault()
            void create(event.currentTarget)
          }}
        >
          <div className="q1">
            <Icon of={LinkIcon} />
            <input
              id={id}
              aria-label={t.empty.destination}
              aria-invalid={errors.length > 0 || undefined}
              aria-describedby={errors.length > 0 ? `${id}-text` : undefined}
              placeholder="https://"
              inputMode="url"
              value={url}
              onChange={(event) => setUrl(event.target.value)}
            />
          </div>
          <div className="q2">
            <div className="in-join grow">
              <DomainSelect value={domain} onChange={setDomain} aria-label={t.linkForm.domain} />
              <div className="in">
                <span className="muted">/</span>
                <input
                  aria-label={t.empty.key}
                  placeholder={t.empty.random}
                  value={key}
                  onChange={(event) => setKey(event.target.value)}
                />
              </div>
            </div>
            <Button type="submit" look="ink" shortcut="↵" isBusy={isBusy}>
              {t.linkForm.create}
            </Button>
          </div>
        </form>
        {errors.length > 0 && (
          <p className="err" role="alert" id={`${id}-text`}>
            <Icon of={AlertIcon} />
            <span>{errors.join(' ')}</span>
          </p>
        )}
        <p className="muted">
          {t.imports.invite}{' '}
          <Link to="/settings/imports/new" className="link">
            {t.imports.start}
          </Link>
        </p>
        <div className="grid gap-2">
          <p className="muted">{t.empty.terminal}</p>
          <div className="cmd">
            <pre className="term">{command}</pre>
            <CopyButton text={command} label={t.empty.copyCommand} />
          </div>
        </div>
      </div>
    </div>
  )
}
