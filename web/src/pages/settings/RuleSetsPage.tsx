import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import {
  createRuleSet,
  deleteRuleSet,
  RULE_SETS_KEY,
  type RuleSet,
  renameRuleSet,
  ruleSetsQuery,
} from '../../api/rule-sets.ts'
import { Icon } from '../../icons/Icon.tsx'
import {
  AddIcon,
  EditIcon,
  MoreIcon,
  RuleSetIcon,
  RulesIcon,
  TrashIcon,
} from '../../icons/index.ts'
import { ConfirmDialog } from '../../shell/ConfirmDialog.tsx'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { FormDialog } from '../../widgets/Dialog.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../widgets/Menu.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'
import { RowsSkeleton, Section } from './Section.tsx'

/** The rule sets of the workspace, by name. */
export default function RuleSetsPage() {
  const t = useText()
  const navigate = useNavigate()
  const { may, membership } = useMembership()
  const { data: sets, error } = useQuery({ ...ruleSetsQuery, enabled: membership !== undefined })
  const [isCreating, setCreating] = useState(false)
  return (
    <Section
      title={t.settings.pages.ruleSets}
      hint={t.ruleSets.hint}
      isFirst
      actions={
        may('member') && (
          <Button icon={AddIcon} onClick={() => setCreating(true)}>
            {t.ruleSets.create}
          </Button>
        )
      }
    >
      {sets === undefined && error === null && <RowsSkeleton />}
      {sets === undefined && error !== null && <LoadFailure error={error} />}
      {sets?.length === 0 && <p className="muted">{t.ruleSets.emptyTitle}</p>}
      {sets !== undefined && sets.length > 0 && (
        <ul className="rows" aria-label={t.settings.pages.ruleSets}>
          {sets.map((set) => (
            <RuleSetRow key={set.id} set={set} />
          ))}
        </ul>
      )}
      {isCreating && (
        <NameDialog
          title={t.ruleSets.createTitle}
          verb={t.ruleSets.create}
          save={createRuleSet}
          onSaved={({ id }) =>
            void navigate({ to: '/settings/rule-sets/$setId', params: { setId: id } })
          }
          onClose={() => setCreating(false)}
        />
      )}
    </Section>
  )
}

function RuleSetRow({ set }: { readonly set: RuleSet }) {
  const t = useText()
  const { may } = useMembership()
  const { id, name, rules, used_by } = set
  return (
    <li>
      <Icon of={RuleSetIcon} />
      <span className="who">
        <b>
          <Link to="/settings/rule-sets/$setId" params={{ setId: id }}>
            {name}
          </Link>
        </b>
        <span className="wrap">
          {t.ruleSets.rules(rules.length)} · {t.ruleSets.usedBy(used_by.links, used_by.domains)}
        </span>
      </span>
      {may('member') && <RuleSetMenu set={set} />}
    </li>
  )
}

function RuleSetMenu({ set: { id, name } }: { readonly set: RuleSet }) {
  const t = useText()
  const [open, setOpen] = useState<'rename' | 'delete'>()
  const close = () => setOpen(undefined)
  const trigger = (
    <button className="ib" type="button" aria-label={t.settings.actionsFor(name)}>
      <Icon of={MoreIcon} />
    </button>
  )
  return (
    <>
      <Menu trigger={trigger}>
        <MenuItem
          icon={RulesIcon}
          render={<Link to="/settings/rule-sets/$setId" params={{ setId: id }} />}
        >
          {t.ruleSets.edit}
        </MenuItem>
        <MenuItem icon={EditIcon} onSelect={() => setOpen('rename')}>
          {t.ruleSets.rename}
        </MenuItem>
        <MenuSeparator />
        <MenuItem icon={TrashIcon} isDangerous onSelect={() => setOpen('delete')}>
          {t.common.delete}
        </MenuItem>
      </Menu>
      {open === 'rename' && (
        <NameDialog
          title={t.ruleSets.renameTitle(name)}
          verb={t.ruleSets.rename}
          start={name}
          save={(typed) => renameRuleSet(id, typed)}
          onSaved={(renamed) => showMessage(t.ruleSets.renamed(renamed.name))}
          onClose={close}
        />
      )}
      {open === 'delete' && (
        <ConfirmDialog
          title={t.ruleSets.deleteTitle(name)}
          text={t.ruleSets.deleteText}
          verb={t.common.delete}
          act={() => deleteRuleSet(id)}
          keys={[RULE_SETS_KEY]}
          message={t.ruleSets.deleted(name)}
          onClose={close}
        />
      )}
    </>
  )
}

type Saved = Awaited<ReturnType<typeof createRuleSet>>

type NameDialogProps = {
  readonly title: string
  readonly verb: string
  readonly start?: string
  readonly save: (name: string) => Promise<Saved>
  readonly onSaved: (set: Saved) => void
  readonly onClose: () => void
}

function NameDialog({ title, verb, start = '', save, onSaved, onClose }: NameDialogProps) {
  const t = useText()
  const client = useQueryClient()
  const [typed, setTyped] = useState(start)
  const name = typed.trim()
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: () => save(name),
    async onSuccess(set) {
      await client.invalidateQueries({ queryKey: RULE_SETS_KEY })
      onClose()
      onSaved(set)
    },
  })
  const faults = useFaults(error, ['name'])
  return (
    <FormDialog
      title={title}
      verb={verb}
      isBusy={isPending}
      isIncomplete={name === '' || name === start}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <Field label={t.ruleSets.name} hint={t.ruleSets.nameHint} errors={faults.withGeneral('name')}>
        {(control) => (
          <Input
            {...control}
            autoComplete="off"
            value={typed}
            onChange={(event) => {
              setTyped(event.target.value)
              reset()
            }}
          />
        )}
      </Field>
    </FormDialog>
  )
}
