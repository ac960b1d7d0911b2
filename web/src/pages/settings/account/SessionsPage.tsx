import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  endOtherSessions,
  endSession,
  type SessionEntryResource,
  sessionsQuery,
} from '../../../api/account.ts'
import { Icon } from '../../../icons/Icon.tsx'
import { DesktopIcon, PhoneIcon } from '../../../icons/index.ts'
import { ConfirmDialog } from '../../../shell/ConfirmDialog.tsx'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { useChange } from '../../../shell/use-faults.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { Ago } from '../../../widgets/Time.tsx'
import { RowsSkeleton, Section } from '../Section.tsx'

/** Where the person is signed in. */
export default function SessionsPage() {
  const t = useText()
  const { data: sessions, error } = useQuery(sessionsQuery)
  const [isEnding, setEnding] = useState(false)
  const hasOthers = sessions?.some((session) => !session.is_current) ?? false
  return (
    <Section
      title={t.account.sessions}
      hint={t.account.sessionsHint}
      isFirst
      actions={hasOthers && <Button onClick={() => setEnding(true)}>{t.account.endOthers}</Button>}
    >
      {sessions === undefined && error === null && <RowsSkeleton />}
      {sessions === undefined && error !== null && <LoadFailure error={error} />}
      {sessions && (
        <ul className="rows">
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </ul>
      )}
      {isEnding && (
        <ConfirmDialog
          title={t.account.endOthersTitle}
          text={t.account.endOthersText}
          verb={t.account.endOthers}
          act={endOtherSessions}
          keys={[sessionsQuery.queryKey]}
          message={t.account.sessionsEnded}
          onClose={() => setEnding(false)}
        />
      )}
    </Section>
  )
}

/** As the API says it, in English. */
const UNKNOWN = 'Unknown device'

function SessionRow({ session }: { session: SessionEntryResource }) {
  const t = useText()
  const { mutate, isPending } = useChange(() => endSession(session.id), {
    keys: [sessionsQuery.queryKey],
    message: () => t.account.sessionEnded,
  })
  const device = session.device === UNKNOWN ? t.account.sessionUnknown : session.device
  const isPhone = /Android|iOS/.test(device)
  return (
    <li>
      <Icon of={isPhone ? PhoneIcon : DesktopIcon} />
      <span className="who">
        <b>
          {device} {session.is_current && <span className="tag">{t.account.sessionCurrent}</span>}
        </b>
        <span>
          <Ago instant={new Date(session.created_at)} text={t.account.signedIn} />
        </span>
      </span>
      <span className="col w-40">
        {session.is_current ? (
          t.members.activeNow
        ) : (
          <Ago instant={new Date(session.last_seen_at)} text={t.account.lastSeen} />
        )}
      </span>
      {!session.is_current && (
        <Button
          size="small"
          isBusy={isPending}
          aria-label={t.account.endSessionOn(device)}
          onClick={() => mutate(undefined)}
        >
          {t.account.endSession}
        </Button>
      )}
    </li>
  )
}
