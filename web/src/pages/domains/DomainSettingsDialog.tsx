import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  changeDomain,
  changeHsts,
  DOMAINS_KEY,
  type DomainResource,
  httpsQuery,
} from '../../api/domains.ts'
import { useFaults } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Dialog } from '../../widgets/Dialog.tsx'
import { Field, Input, Select } from '../../widgets/Field.tsx'
import { Skeleton } from '../../widgets/Loading.tsx'
import { showMessage } from '../../widgets/toasts.ts'

type DomainSettingsDialogProps = {
  readonly domain: DomainResource
  readonly onClose: () => void
}

/** Where visits without a link go, and whether browsers use only HTTPS. */
export function DomainSettingsDialog({ domain, onClose }: DomainSettingsDialogProps) {
  const t = useText()
  const client = useQueryClient()
  const { data: https, error: loadError } = useQuery(httpsQuery(domain.id))
  const [notFoundUrl, setNotFoundUrl] = useState(domain.not_found_url ?? '')
  const [expiredUrl, setExpiredUrl] = useState(domain.expired_url ?? '')
  const [chosenHsts, setHsts] = useState<string>()
  const before = https === undefined ? undefined : hstsText(https.hsts_max_age)
  const hsts = chosenHsts ?? before
  const { mutate, isPending, error } = useMutation({
    async mutationFn() {
      await changeDomain(domain.id, {
        not_found_url: notFoundUrl.trim() || null,
        expired_url: expiredUrl.trim() || null,
      })
      if (hsts !== undefined && hsts !== before) {
        await changeHsts(domain.id, hsts === 'off' ? null : Number(hsts))
      }
    },
    async onSuccess() {
      await client.invalidateQueries({ queryKey: DOMAINS_KEY })
      showMessage(t.domains.saved(domain.domain))
      onClose()
    },
  })
  const faults = useFaults(error ?? loadError, ['not_found_url', 'expired_url', 'hsts_max_age'])
  return (
    <Dialog
      isOpen
      isFirm
      onClose={onClose}
      onSubmit={() => {
        if (!isPending) mutate()
      }}
      title={domain.domain}
      footer={
        <>
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="ink" isBusy={isPending}>
            {t.common.save}
          </Button>
        </>
      }
    >
      <div className="grid gap-4 pt-2">
        <AddressField
          label={t.domains.notFoundUrl}
          hint={t.domains.notFoundHint}
          errors={faults.of('not_found_url')}
          value={notFoundUrl}
          onChange={setNotFoundUrl}
        />
        <AddressField
          label={t.domains.expiredUrl}
          hint={t.domains.expiredHint}
          errors={faults.of('expired_url')}
          value={expiredUrl}
          onChange={setExpiredUrl}
        />
        <Field
          label={t.domains.hsts}
          hint={t.domains.hstsHint}
          errors={faults.withGeneral('hsts_max_age')}
        >
          {(control) =>
            hsts === undefined ? (
              <Skeleton width={120} />
            ) : (
              <Select {...control} value={hsts} onChange={(event) => setHsts(event.target.value)}>
                <HstsChoices value={hsts} />
              </Select>
            )
          }
        </Field>
      </div>
    </Dialog>
  )
}

const HSTS_SECONDS = ['off', '300', '86400', '2592000', '31536000', '63072000', '0'] as const

function HstsChoices({ value }: { value: string }) {
  const t = useText()
  const isOther = HSTS_SECONDS.every((one) => one !== value)
  return (
    <>
      {HSTS_SECONDS.map((one) => (
        <option key={one} value={one}>
          {t.domains.hstsChoices[one]}
        </option>
      ))}
      {isOther && <option value={value}>{t.domains.hstsOther(Number(value))}</option>}
    </>
  )
}

function hstsText(seconds: number | null): string {
  return seconds === null ? 'off' : String(seconds)
}

type AddressFieldProps = {
  readonly label: string
  readonly hint: string
  readonly errors: readonly string[] | undefined
  readonly value: string
  readonly onChange: (value: string) => void
}

function AddressField({ label, hint, errors, value, onChange }: AddressFieldProps) {
  return (
    <Field label={label} hint={hint} errors={errors}>
      {(control) => (
        <Input
          {...control}
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          placeholder="https://"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}
