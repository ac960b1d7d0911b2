import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ImportResource, importsQuery } from '../../../api/imports.ts'
import { Icon } from '../../../icons/Icon.tsx'
import { AddIcon, ImportIcon } from '../../../icons/index.ts'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { useMembership } from '../../../shell/use-membership.ts'
import { useFormats, useText } from '../../../text/use-text.ts'
import { Button, ButtonContent, buttonClass } from '../../../widgets/Button.tsx'
import { RowsSkeleton } from '../RowsSkeleton.tsx'
import { Section } from '../Section.tsx'
import { ExportSection } from './ExportSection.tsx'
import { ImportStatus } from './ImportStatus.tsx'
import { sourceOf } from './sources.ts'

/** Moving in, and moving out. */
export default function ImportsPage() {
  const { may } = useMembership()
  return (
    <>
      <ImportList />
      {may('admin') && <ExportSection />}
    </>
  )
}

function ImportList() {
  const t = useText()
  const list = useInfiniteQuery(importsQuery)
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const imports = data?.pages.flatMap((page) => page.data)
  return (
    <Section
      title={t.imports.title}
      hint={t.imports.hint}
      isFirst
      actions={
        <Link to="/settings/imports/new" className={buttonClass({ look: 'ink' })}>
          <ButtonContent icon={AddIcon}>{t.imports.start}</ButtonContent>
        </Link>
      }
    >
      {imports === undefined && error === null && <RowsSkeleton />}
      {imports === undefined && error !== null && <LoadFailure error={error} />}
      {imports?.length === 0 && <p className="muted">{t.imports.none}</p>}
      {imports !== undefined && imports.length > 0 && (
        <ul className="rows" aria-label={t.imports.earlier}>
          {imports.map((one) => (
            <ImportRow key={one.id} shown={one} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Button className="mt-3" isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t.imports.more}
        </Button>
      )}
    </Section>
  )
}

function ImportRow({ shown }: { shown: ImportResource }) {
  const t = useText()
  const formats = useFormats()
  const { id, source, counts, created_at: createdAt } = shown
  const links = counts.created + counts.updated + counts.renamed
  return (
    <li>
      <Icon of={ImportIcon} />
      <Link to="/settings/imports/$importId" params={{ importId: id }} className="who">
        <b>{sourceOf(source)?.name ?? source}</b>
        <span>{formats.exact(new Date(createdAt))}</span>
      </Link>
      <span className="col">{t.common.links(links)}</span>
      <ImportStatus of={shown} />
    </li>
  )
}
