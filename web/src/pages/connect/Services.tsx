import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type CompatResource, compatQuery, enableService } from '../../api/compat.ts'
import { createToken, tokensQuery } from '../../api/tokens.ts'
import { SecretDialog } from '../../shell/ConfirmDialog.tsx'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { FormNote } from '../../widgets/Field.tsx'
import { RowsSkeleton, Section } from '../settings/Section.tsx'

/** The APIs of other services: which are on, and what is copied into their clients. */
export function Services() {
  const t = useText()
  const { data: services, error } = useQuery(compatQuery)
  return (
    <Section title={t.connect.services} hint={t.connect.servicesHint}>
      {services === undefined && error === null && <RowsSkeleton />}
      {services === undefined && error !== null && <LoadFailure error={error} />}
      {services !== undefined && (
        <ul className="svc">
          {services.map((service) => (
            <ServiceRow key={service.service} service={service} />
          ))}
        </ul>
      )}
    </Section>
  )
}

function ServiceRow({ service: { service, enabled, address } }: { service: CompatResource }) {
  const t = useText()
  const client = useQueryClient()
  // At once: the state of the request is known a moment later.
  const [wanted, setWanted] = useState<boolean>()
  const { name, clients, serverFor } = t.connect.serviceNames[service]
  const server = serverOf(service, address)
  const refresh = () =>
    Promise.all(
      [compatQuery, tokensQuery].map(({ queryKey }) => client.invalidateQueries({ queryKey })),
    )
  const switching = useMutation({
    mutationFn: (isOn: boolean) => enableService(service, isOn),
    onSuccess: refresh,
    onSettled: () => setWanted(undefined),
  })
  const creating = useMutation({
    mutationFn: () => createToken({ name, scopes: [`compat:${service}`], expires_at: null }),
    onSuccess: refresh,
  })
  const faults = useFaults(switching.error ?? creating.error)
  return (
    <li>
      <label className="svc-r">
        <input
          type="checkbox"
          className="cb"
          checked={wanted ?? enabled}
          onChange={({ target }) => {
            setWanted(target.checked)
            switching.mutate(target.checked)
          }}
        />
        <span className="who">
          <b>{name}</b>
          <span>{clients}</span>
        </span>
      </label>
      <FormNote text={faults.general} />
      {enabled && (
        <dl className="kv svc-b">
          <div>
            <dt>{t.connect.address}</dt>
            <dd>
              <span className="mono">{address}</span>
              <CopyButton text={address} label={`${t.connect.copyAddress}: ${name}`} />
            </dd>
          </div>
          {serverFor !== null && (
            <div>
              <dt>{t.connect.server}</dt>
              <dd>
                <span>
                  <span className="mono">{server}</span> <span className="muted">{serverFor}</span>
                </span>
                <CopyButton text={server} label={`${t.connect.copyServer}: ${name}`} />
              </dd>
            </div>
          )}
          <div>
            <dt>{t.connect.key}</dt>
            <dd>
              <span className="muted">{t.connect.keyHint}</span>
              <Button
                size="small"
                isBusy={creating.isPending}
                aria-label={`${t.connect.createKey}: ${name}`}
                onClick={() => creating.mutate()}
              >
                {t.connect.createKey}
              </Button>
            </dd>
          </div>
        </dl>
      )}
      {creating.data !== undefined && (
        <SecretDialog
          title={t.connect.keyTitle(name)}
          text={t.tokens.secretText}
          label={t.connect.key}
          secret={creating.data.secret}
          copyLabel={t.connect.copyKey}
          onClose={() => creating.reset()}
        />
      )}
    </li>
  )
}

/** What clients take that know the path of the API themselves; those of Bitly the scheme too. */
function serverOf(service: CompatResource['service'], address: string): string {
  const { host, origin } = new URL(address)
  return service === 'bitly' ? host : origin
}
