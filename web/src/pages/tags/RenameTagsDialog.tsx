import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { LINKS_KEY } from '../../api/links.ts'
import { renameTags, type Tag, tagUseQuery } from '../../api/tags.ts'
import { useFaults } from '../../shell/use-faults.ts'
import { useSettled } from '../../state/use-settled.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Dialog } from '../../widgets/Dialog.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { showMessage } from '../../widgets/toasts.ts'

type RenameTagsDialogProps = {
  /** Several become one. */
  readonly tags: readonly Tag[]
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Asks for the new name, and says when that joins the tag with another one. */
export function RenameTagsDialog({ tags, onDone, onClose }: RenameTagsDialogProps) {
  const t = useText()
  const client = useQueryClient()
  const names = tags.map(({ name }) => name)
  const isMerge = tags.length > 1
  // Most links carry the name that is kept by default.
  const most = tags.toSorted((one, other) => other.links - one.links)[0]?.name ?? ''
  const [typed, setTyped] = useState(most)
  const name = typed.trim()
  const isSame = !isMerge && name === names[0]
  const settled = useSettled(name)
  const { data: isUsed = false } = useQuery({
    ...tagUseQuery(settled),
    enabled: settled !== '' && !names.includes(settled),
  })
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => renameTags(names, name),
    async onSuccess(changed) {
      await client.invalidateQueries({ queryKey: LINKS_KEY })
      showMessage(t.tags.changed(changed))
      onDone()
    },
  })
  const faults = useFaults(error, ['name'])
  const willMerge = isUsed && settled === name && !names.includes(name)
  return (
    <Dialog
      isOpen
      isFirm
      onClose={onClose}
      onSubmit={() => {
        if (name !== '' && !isSame && !isPending) mutate()
      }}
      title={isMerge ? t.tags.mergeTitle(tags.length) : t.tags.renameTitle(names[0] ?? '')}
      description={isMerge ? names.join(', ') : undefined}
      footer={
        <>
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="ink" isBusy={isPending} disabled={name === '' || isSame}>
            {isMerge || willMerge ? t.tags.merge : t.tags.rename}
          </Button>
        </>
      }
    >
      <Field
        label={isMerge ? t.tags.mergeName : t.tags.newName}
        hint={willMerge ? t.tags.willMerge(name) : undefined}
        errors={faults.withGeneral('name')}
      >
        {(control) => (
          <Input {...control} value={typed} onChange={(event) => setTyped(event.target.value)} />
        )}
      </Field>
    </Dialog>
  )
}
