import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  deleteUtmTemplate,
  UTM_TEMPLATES_KEY,
  type UtmTemplate,
  utmTemplatesQuery,
} from '../../api/utm-templates.ts'
import { Icon } from '../../icons/Icon.tsx'
import { AddIcon, EditIcon, MoreIcon, TrashIcon } from '../../icons/index.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { ManagedNote } from '../../shell/ManagedNote.tsx'
import { FindButton, Page } from '../../shell/Page.tsx'
import UtmTemplateDialog from '../../shell/UtmTemplateDialog.tsx'
import { useMembership } from '../../shell/use-membership.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../widgets/Menu.tsx'
import { offerUndo, showError } from '../../widgets/Toasts.tsx'
import { TagsTabs } from './TagsTabs.tsx'

const EMPTY = {
  name: '',
  utm_source: '',
  utm_medium: '',
  utm_campaign: '',
  utm_term: '',
  utm_content: '',
  utm_name: '',
}

/** The UTM templates of the workspace. */
export default function UtmTemplatesPage() {
  const t = useText()
  const { may } = useMembership()
  const { data, error } = useQuery(utmTemplatesQuery)
  const [edited, setEdited] = useState<UtmTemplate | 'new'>()
  const { hidden, remove } = useDeletion()
  const shown = data?.filter(({ id }) => !hidden.includes(id))
  const mayWrite = may('member')
  const actions = (
    <>
      <FindButton />
      {mayWrite && (
        <Button look="ink" icon={AddIcon} onClick={() => setEdited('new')}>
          {t.utmTemplates.new}
        </Button>
      )}
    </>
  )
  return (
    <Page title={t.utmTemplates.title} actions={actions} isFlush>
      <div className="tools">
        <TagsTabs />
      </div>
      {shown === undefined && error !== null && <LoadFailure error={error} />}
      {shown?.length === 0 && (
        <div className="empty">
          <div>
            <div className="grid gap-1">
              <h2>{t.utmTemplates.emptyTitle}</h2>
              <p className="muted">{t.utmTemplates.emptyHint}</p>
            </div>
          </div>
        </div>
      )}
      {shown !== undefined && shown.length > 0 && (
        <ul className="list border-t-0" aria-label={t.utmTemplates.title}>
          {shown.map((template) => (
            <Row
              key={template.id}
              template={template}
              mayWrite={mayWrite}
              onEdit={() => setEdited(template)}
              onDelete={() => remove(template)}
            />
          ))}
        </ul>
      )}
      {edited === 'new' && <UtmTemplateDialog start={EMPTY} onClose={() => setEdited(undefined)} />}
      {edited !== undefined && edited !== 'new' && (
        <UtmTemplateDialog
          id={edited.id}
          start={draftOf(edited)}
          note={
            <ManagedNote
              of={edited}
              kind="template"
              path={`/utm-templates/${edited.id}`}
              mayRelease={mayWrite}
              keys={[UTM_TEMPLATES_KEY]}
            />
          }
          onClose={() => setEdited(undefined)}
        />
      )}
    </Page>
  )
}

/** Deletes in six seconds, unless Undo brings the template back. */
function useDeletion() {
  const t = useText()
  const client = useQueryClient()
  const [hidden, setHidden] = useState<readonly string[]>([])
  function remove({ id, name }: UtmTemplate) {
    const show = () => setHidden((before) => before.filter((one) => one !== id))
    setHidden((before) => [...before, id])
    offerUndo({
      message: t.utmTemplates.deleted(name),
      icon: TrashIcon,
      undo: show,
      async otherwise() {
        try {
          await deleteUtmTemplate(id)
          await client.invalidateQueries({ queryKey: UTM_TEMPLATES_KEY })
        } catch {
          showError(t.utmTemplates.deleteFailed(name))
        }
        show()
      },
    })
  }
  return { hidden, remove }
}

function draftOf(template: UtmTemplate): typeof EMPTY {
  const names = Object.keys(EMPTY) as (keyof typeof EMPTY)[]
  return Object.fromEntries(names.map((name) => [name, template[name] ?? ''])) as typeof EMPTY
}

type RowProps = {
  readonly template: UtmTemplate
  readonly mayWrite: boolean
  readonly onEdit: () => void
  readonly onDelete: () => void
}

function Row({ template, mayWrite, onEdit, onDelete }: RowProps) {
  const t = useText()
  const { name: _, ...values } = draftOf(template)
  const parameters = Object.entries(values).filter(([, value]) => value !== '')
  const trigger = (
    <button className="ib" type="button" aria-label={t.utmTemplates.actionsFor(template.name)}>
      <Icon of={MoreIcon} />
    </button>
  )
  return (
    <li className="tag-row">
      <span className="grow min-w-0 grid">
        <b>{template.name}</b>
        <span className="muted cut">
          {parameters.map(([name, value]) => `${name}=${value}`).join(' ')}
        </span>
      </span>
      {mayWrite && (
        <Menu trigger={trigger}>
          <MenuItem icon={EditIcon} onSelect={onEdit}>
            {t.common.edit}
          </MenuItem>
          <MenuSeparator />
          <MenuItem icon={TrashIcon} isDangerous onSelect={onDelete}>
            {t.common.delete}
          </MenuItem>
        </Menu>
      )}
    </li>
  )
}
