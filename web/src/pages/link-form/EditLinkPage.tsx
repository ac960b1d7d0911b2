import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { changeLink, editedLinkQuery, LINKS_KEY } from '../../api/links.ts'
import { markOfLink } from '../../api/managed.ts'
import { SplitIcon } from '../../icons/index.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { ManagedNote } from '../../shell/ManagedNote.tsx'
import { Page, useReturn } from '../../shell/Page.tsx'
import { useMembership } from '../../shell/use-membership.ts'
import { useText } from '../../text/use-text.ts'
import { ButtonContent, buttonClass } from '../../widgets/Button.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'
import { focusWhenShown } from '../links/row-state.ts'
import { LinkForm } from './LinkForm.tsx'
import { draftOf } from './link-draft.ts'

const route = getRouteApi('/shell/links/$linkId/edit')

export default function EditLinkPage() {
  const t = useText()
  const { linkId } = route.useParams()
  const leave = useReturn(linkId)
  const { may } = useMembership()
  const { data: edited, error, refetch } = useQuery(editedLinkQuery(linkId))
  const link = edited?.value
  const parent = (
    <Link to="/links/$linkId" params={{ linkId }}>
      {link === undefined ? t.links.title : `${link.domain}/${link.key}`}
    </Link>
  )
  const actions = link && (
    <Link to="/links/$linkId/rules" params={{ linkId }} className={buttonClass({})}>
      <ButtonContent icon={SplitIcon}>{t.link.rules}</ButtonContent>
    </Link>
  )
  return (
    <Page title={t.linkForm.editTitle} parent={parent} actions={actions} isFlush>
      {link === undefined && error !== null && <LoadFailure error={error} />}
      {link !== undefined && (
        <LinkForm
          key={edited?.version}
          place={`edit ${link.id}`}
          start={draftOf(link)}
          link={link}
          note={
            <ManagedNote
              of={markOfLink(link)}
              kind="link"
              path={`/links/${linkId}`}
              version={edited?.version}
              mayRelease={may('member')}
              keys={[LINKS_KEY]}
              onReleased={() => refetch()}
            />
          }
          save={(fields) => changeLink(link.id, fields, edited?.version)}
          overwrite={(fields) => changeLink(link.id, fields, undefined)}
          onReload={async () => void (await refetch())}
          onSaved={() => {
            showMessage(t.linkForm.saved)
            focusWhenShown(linkId)
            leave()
          }}
          onCancel={leave}
        />
      )}
    </Page>
  )
}
