import { useQuery } from '@tanstack/react-query'
import type { Grouping } from '../../api/click-reads.ts'
import { type ClickGroup, GROUPS_MAX } from '../../api/clicks.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useChartFormats } from '../../text/chart-formats.ts'
import { useText } from '../../text/use-text.ts'
import { Dialog } from '../../widgets/Dialog.tsx'
import { toggled } from './analytics-search.ts'
import { ChangeLink } from './ChangeLink.tsx'
import { breakdownQuery, countOf, groupName, totalOf } from './groups.ts'
import { type View, wantedOf } from './view.ts'

type AllValuesProps = {
  readonly view: View
  readonly grouping: Grouping
  readonly onClose: () => void
}

/** All values of a dimension, links or tags as a table. */
export default function AllValues({ view, grouping, onClose }: AllValuesProps) {
  const t = useText()
  const formats = useChartFormats(view.timezone)
  const { data, error } = useQuery(breakdownQuery(view, grouping, GROUPS_MAX))
  const wanted = wantedOf(view, grouping)
  const isSet = ({ value }: ClickGroup) => wanted.includes(value ?? '')
  const title = t.analytics.dimensions[grouping]
  const total = data === undefined ? 0 : totalOf(data.total, view)
  const share = (count: number) => formats.share(total === 0 ? 0 : count / total)
  return (
    <Dialog onClose={onClose} title={title}>
      {data === undefined && error !== null && <LoadFailure error={error} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="scroll all-values" tabIndex={0} aria-label={title}>
        <table className="dt">
          <caption className="sr">{title}</caption>
          <thead>
            <tr>
              <th scope="col">{t.analytics.dimension[grouping]}</th>
              <th scope="col">
                {t.analytics.measures[view.measure === 'bots' ? 'bots' : 'clicks']}
              </th>
              <th scope="col">{t.analytics.share}</th>
            </tr>
          </thead>
          <tbody>
            {data?.data.map((group) => (
              <tr key={group.value ?? ''} className={isSet(group) ? 'on' : ''}>
                <th scope="row">
                  <ChangeLink
                    change={{ [grouping]: toggled(wanted, group.value ?? '') }}
                    className="link"
                    aria-current={isSet(group) ? 'true' : 'false'}
                    onClick={onClose}
                  >
                    {groupName(grouping, group, formats, t)}
                  </ChangeLink>
                </th>
                <td>{formats.number(countOf(group))}</td>
                <td>{share(countOf(group))}</td>
              </tr>
            ))}
            {data !== undefined && data.rest.values > 0 && (
              <tr>
                <th scope="row">{t.analytics.rest(data.rest.values)}</th>
                <td>{formats.number(countOf(data.rest))}</td>
                <td>{share(countOf(data.rest))}</td>
              </tr>
            )}
          </tbody>
        </table>
      </section>
    </Dialog>
  )
}
