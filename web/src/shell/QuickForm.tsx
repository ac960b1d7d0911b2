import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { destinationOf, LINKS_KEY } from '../api/links.ts'
import { Icon } from '../icons/Icon.tsx'
import { AlertIcon, LinkIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { Button } from '../widgets/Button.tsx'
import { noteSent, useFaultReport } from '../widgets/Field.tsx'
import { useFaults } from './use-faults.ts'

type QuickFormProps<T> = {
  /** The name of its field. */
  readonly label: string
  readonly verb: string
  /** Whether it has the focus from the beginning. */
  readonly hasFocus?: boolean
  /** Left of the button: what becomes of the destination. */
  readonly children: ReactNode
  /** Below the form, unless something is wrong. */
  readonly hint?: string
  /** Called within the gesture, as `copyText` demands. */
  readonly create: (url: string) => Promise<T>
  readonly onCreated: (created: T) => unknown
}

/** The shortest way to a link: a destination and a button. */
export function QuickForm<T>(props: QuickFormProps<T>) {
  const { label, verb, hasFocus = false, children, hint, create, onCreated } = props
  const t = useText()
  const id = useId()
  const client = useQueryClient()
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  const [isInvalid, setInvalid] = useState(false)
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: create,
    async onSuccess(created) {
      await client.invalidateQueries({ queryKey: LINKS_KEY })
      await onCreated(created)
    },
  })
  const faults = useFaults(error)
  const fault = isInvalid ? t.linkForm.invalidUrl : faults.general
  useFaultReport(id, fault !== undefined, t.common.problems)

  useEffect(() => {
    if (hasFocus) field.current?.focus()
  }, [hasFocus])

  function submit(form: HTMLFormElement) {
    const url = destinationOf(typed)
    setInvalid(url === undefined)
    if (url === undefined) noteSent(form)
    else if (!isPending) mutate(url)
  }

  return (
    <>
      <form
        className="quick"
        onSubmit={(event) => {
          event.preventDefault()
          submit(event.currentTarget)
        }}
      >
        <div className="q1">
          <Icon of={LinkIcon} />
          <input
            ref={field}
            id={id}
            aria-label={label}
            aria-invalid={fault !== undefined || undefined}
            aria-describedby={fault && `${id}-text`}
            placeholder="https://"
            inputMode="url"
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => {
              setTyped(event.target.value)
              setInvalid(false)
              reset()
            }}
          />
        </div>
        <div className="q2">
          {children}
          <Button type="submit" look="ink" shortcut="↵" isBusy={isPending}>
            {verb}
          </Button>
        </div>
      </form>
      {fault !== undefined && (
        <p className="err" role="alert" id={`${id}-text`}>
          <Icon of={AlertIcon} />
          <span>{fault}</span>
        </p>
      )}
      {fault === undefined && hint !== undefined && <p className="hint">{hint}</p>}
    </>
  )
}
