import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type DragEvent, useId, useState } from 'react'
import { type ImportResource, importQuery, sendImportFile } from '../../../api/imports.ts'
import { LeaveGuard } from '../../../shell/LeaveGuard.tsx'
import { useFaults } from '../../../shell/use-faults.ts'
import { useFormats, useText } from '../../../text/use-text.ts'
import { FormNote } from '../../../widgets/FormNote.tsx'
import { sourceOf } from './sources.ts'

type FileStepProps = {
  readonly shown: ImportResource
  readonly onSent: (next: ImportResource) => void
}

/** Takes the file, by choosing or dropping it, and sends it in parts. */
export function FileStep({ shown, onSent }: FileStepProps) {
  const t = useText()
  const formats = useFormats()
  const client = useQueryClient()
  const id = useId()
  const [isOver, setOver] = useState(false)
  const [sent, setSent] = useState<{ readonly bytes: number; readonly of: number }>()
  const { mutate, isPending, error, isSuccess } = useMutation({
    async mutationFn(file: File) {
      setSent({ bytes: 0, of: file.size })
      await sendImportFile(shown.id, file, (bytes) => setSent({ bytes, of: file.size }))
      return client.fetchQuery({ ...importQuery(shown.id), staleTime: 0 })
    },
    onSuccess: onSent,
  })
  const faults = useFaults(error, ['file'])
  const note = faults.of('file').join(' ') || faults.general
  function drop(event: DragEvent) {
    event.preventDefault()
    setOver(false)
    const [file] = event.dataTransfer.files
    if (file !== undefined && !isPending) mutate(file)
  }
  const before = shown.file_bytes
  return (
    <div className="grid gap-3">
      <LeaveGuard isOn={() => isPending} />
      <FormNote text={note} />
      {/* Dropping is for the mouse; the button within does the same. */}
      <fieldset
        aria-label={t.imports.chooseFile}
        className={isOver ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <label className="btn" htmlFor={id}>
          {before === null ? t.imports.chooseFile : t.imports.chooseAgain}
        </label>
        <input
          id={id}
          type="file"
          className="sr"
          accept={sourceOf(shown.source)?.accept}
          disabled={isPending}
          onChange={({ target }) => {
            const [file] = target.files ?? []
            if (file !== undefined) mutate(file)
            target.value = ''
          }}
        />
        <span className="muted text-13">{t.imports.dropFile}</span>
      </fieldset>
      {sent !== undefined && isPending && (
        <div className="grid gap-1">
          <progress value={sent.bytes} max={Math.max(1, sent.of)} aria-label={t.imports.sending} />
          <span className="muted text-13">
            {t.imports.sent(formats.bytes(sent.bytes), formats.bytes(sent.of))}
          </span>
        </div>
      )}
      {!isPending && before !== null && (
        <p className="muted text-13" role="status">
          {isSuccess
            ? t.imports.arrived(formats.bytes(before))
            : t.imports.arrivedBefore(formats.bytes(before))}
        </p>
      )}
    </div>
  )
}
