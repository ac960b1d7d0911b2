import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { revokeToken, type TokenResource, tokensQuery } from '../../../api/tokens.ts'
import { Icon } from '../../../icons/Icon.tsx'
import { AddIcon, ExpiredIcon, TokenIcon, WarningIcon } from '../../../icons/index.ts'
import { ConfirmDialog } from '../../../shell/ConfirmDialog.tsx'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { useFormats, useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { Ago, Day, Until, useNow } from '../../../widgets/Time.tsx'
import { RowsSkeleton } from '../RowsSkeleton.tsx'
import { Section } from '../Section.tsx'
import { NewTokenDialog } from './NewTokenDialog.tsx'

const SOON_MS = 7 * 24 * 60 * 60_000

/** The tokens of the workspace. */
export default function TokensPage() {
  const t = useText()
  const { data: tokens, error } = useQuery(tokensQuery)
  const [isCreating, setCreating] = useState(false)
  return (
    <Section
      title={t.tokens.title}
      hint={t.tokens.hint}
      isFirst
      actions={
        <Button icon={AddIcon} onClick={() => setCreating(true)}>
          {t.tokens.create}
        </Button>
      }
    >
      {tokens === undefined && error === null && <RowsSkeleton />}
      {tokens === undefined && error !== null && <LoadFailure error={error} />}
      {tokens?.length === 0 && <p className="muted">{t.tokens.none}</p>}
      {tokens !== undefined && tokens.length > 0 && (
        <ul className="rows">
          {tokens.map((token) => (
            <TokenRow key={token.id} token={token} />
          ))}
        </ul>
      )}
      {isCreating && <NewTokenDialog onClose={() => setCreating(false)} />}
    </Section>
  )
}

function TokenRow({ token }: { token: TokenResource }) {
  const t = useText()
  const formats = useFormats()
  const [isRevoking, setRevoking] = useState(false)
  const { last_used_at: usedAt, created_by: creator } = token
  const used =
    usedAt === null ? t.tokens.neverUsed : <Ago instant={new Date(usedAt)} text={t.tokens.used} />
  const scopes = formats.list(token.scopes.map((scope) => t.tokens.scopeActs[scope]))
  return (
    <li>
      <Icon of={TokenIcon} />
      <span className="who">
        <b>{token.name}</b>
        <span className="wrap">
          {scopes.slice(0, 1).toUpperCase() + scopes.slice(1)}
          {creator !== null && ` · ${t.tokens.createdBy(creator.name)}`}
        </span>
      </span>
      <span className="col">{used}</span>
      <span className="col w-28">
        <Expiry token={token} />
      </span>
      <Button
        size="small"
        aria-label={`${t.tokens.revoke}: ${token.name}`}
        onClick={() => setRevoking(true)}
      >
        {t.tokens.revoke}
      </Button>
      {isRevoking && (
        <ConfirmDialog
          title={t.tokens.revokeTitle(token.name)}
          text={t.tokens.revokeText}
          verb={t.tokens.revoke}
          act={() => revokeToken(token.id)}
          keys={[tokensQuery.queryKey]}
          message={t.tokens.revoked(token.name)}
          onClose={() => setRevoking(false)}
        >
          <ul className="quiet">
            <li>
              <span>{t.tokens.lastUse}</span>
              <span>{used}</span>
            </li>
          </ul>
        </ConfirmDialog>
      )}
    </li>
  )
}

function Expiry({ token: { expires_at: expiresAt } }: { token: TokenResource }) {
  const t = useText()
  const now = useNow()
  if (expiresAt === null) return t.tokens.noExpiry
  const end = new Date(expiresAt)
  const leftMs = end.getTime() - now.getTime()
  if (leftMs <= 0) {
    return (
      <span className="badge bad">
        <Icon of={ExpiredIcon} />
        {t.tokens.expired}
      </span>
    )
  }
  if (leftMs < SOON_MS) {
    return (
      <span className="badge warn">
        <Icon of={WarningIcon} />
        <Until instant={end} />
      </span>
    )
  }
  return <Day instant={end} />
}
