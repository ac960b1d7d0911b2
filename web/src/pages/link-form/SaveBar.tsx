import { Icon } from '../../icons/Icon.tsx'
import { AlertIcon, InfoIcon } from '../../icons/index.ts'
import { keysText } from '../../shell/shortcuts.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'

type SaveBarProps = {
  readonly problems: number
  readonly message: string | undefined
  readonly isChanged: boolean
  /** On the button that saves. */
  readonly verb: string
  readonly isBusy: boolean
  readonly onSave: () => void
  readonly onCancel: () => void
}

/** At the end of a page that is a form: what is wrong with it, or that it is not saved. */
export function SaveBar(props: SaveBarProps) {
  const { problems, message, isChanged, verb, isBusy, onSave, onCancel } = props
  const t = useText()
  const problem = problems > 0 ? t.common.problems(problems) : message
  return (
    <div className="savebar">
      <span role="status">{problem === undefined && isChanged && t.linkForm.unsaved}</span>
      {problem !== undefined && (
        // The number of fields is announced with the focus.
        <span className="msg" role={problems > 0 ? undefined : 'alert'}>
          <Icon of={AlertIcon} small />
          {problem}
        </span>
      )}
      <div className="end">
        <Button look="bare" onClick={onCancel}>
          {t.common.cancel}
        </Button>
        <Button look="ink" shortcut={keysText('mod+Enter')} isBusy={isBusy} onClick={onSave}>
          {verb}
        </Button>
      </div>
    </div>
  )
}

/** Says that the form does not start as usual. */
export function KeptDraft({ onDiscard }: { onDiscard: () => void }) {
  const t = useText()
  return (
    <p className="note items-center" role="status">
      <Icon of={InfoIcon} />
      <span className="grow">{t.linkForm.draftBack}</span>
      <Button size="small" look="bare" onClick={onDiscard}>
        {t.linkForm.discardDraft}
      </Button>
    </p>
  )
}

type ConflictProps = {
  readonly onReload: () => void
  readonly onOverwrite: () => void
}

/** Another person has saved first: the user decides which version stays. */
export function Conflict({ onReload, onOverwrite }: ConflictProps) {
  const t = useText()
  return (
    <div className="note warn m-4" role="alert">
      <Icon of={AlertIcon} />
      <span className="grow">{t.linkForm.conflict}</span>
      <Button size="small" onClick={onReload}>
        {t.linkForm.reload}
      </Button>
      <Button size="small" look="bare" onClick={onOverwrite}>
        {t.linkForm.overwrite}
      </Button>
    </div>
  )
}
