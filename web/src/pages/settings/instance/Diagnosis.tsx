import { useQuery } from '@tanstack/react-query'
import { diagnosisQuery, type FindingResource } from '../../../api/instance.ts'
import { Icon, type IconNode } from '../../../icons/Icon.tsx'
import { AlertIcon, CheckIcon, InfoIcon, ReloadIcon, WarningIcon } from '../../../icons/index.ts'
import { errorText } from '../../../shell/use-faults.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { FormNote } from '../../../widgets/FormNote.tsx'
import { RowsSkeleton } from '../RowsSkeleton.tsx'
import { Section } from '../Section.tsx'

const LOOKS: Readonly<Record<FindingResource['state'], readonly [string, IconNode]>> = {
  ok: ['badge ok', CheckIcon],
  warning: ['badge warn', WarningIcon],
  problem: ['badge bad', AlertIcon],
  skipped: ['badge off', InfoIcon],
}

/** What `terse doctor` says about the node that answers. */
export function Diagnosis() {
  const t = useText()
  const { data, error, isFetching, refetch } = useQuery(diagnosisQuery)
  return (
    <Section
      title={t.instance.doctor}
      hint={t.instance.doctorHint}
      actions={
        <Button icon={ReloadIcon} isBusy={isFetching} onClick={() => refetch()}>
          {t.instance.checkAgain}
        </Button>
      }
    >
      <FormNote text={error === null ? undefined : errorText(error, t)} />
      {data === undefined && error === null && <RowsSkeleton />}
      {data && (
        <ul className="rows findings">
          {data.findings.map((finding) => (
            <Finding key={`${finding.subject} ${finding.text}`} finding={finding} />
          ))}
        </ul>
      )}
    </Section>
  )
}

function Finding({ finding }: { finding: FindingResource }) {
  const t = useText()
  const [look, icon] = LOOKS[finding.state]
  return (
    <li>
      <span className={look}>
        <Icon of={icon} />
        {t.instance.doctorStates[finding.state]}
      </span>
      <span className="who" lang="en">
        <b>{finding.subject}</b>
        <span className="wrap">{finding.text}</span>
        {finding.advice !== null && <span className="wrap advice">{finding.advice}</span>}
      </span>
    </li>
  )
}
