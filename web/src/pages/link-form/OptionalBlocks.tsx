import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { Block } from './Block.tsx'
import { ExpiryBlock } from './ExpiryBlock.tsx'
import type { FormState } from './form-state.ts'
import { UtmBlock } from './UtmBlock.tsx'

/** UTM parameters, device targets, password, expiry and the external id. */
export function OptionalBlocks(state: FormState) {
  return (
    <>
      <UtmBlock {...state} />
      <TargetsBlock {...state} />
      <PasswordBlock {...state} />
      <ExpiryBlock {...state} />
      <ExternalIdBlock {...state} />
    </>
  )
}

function TargetsBlock({ draft, errors, change }: FormState) {
  const t = useText()
  const fields = ['ios', 'android'] as const
  const filled = fields.filter((field) => draft[field] !== '')
  const names = { ios: 'iOS', android: 'Android' }
  return (
    <Block
      title={t.linkForm.targets}
      summary={filled.map((field) => names[field]).join(', ') || t.common.none}
      isFilled={filled.length > 0}
      hasErrors={fields.some((field) => errors[field] !== undefined)}
    >
      <div className="two">
        {fields.map((field) => (
          <Field key={field} label={t.linkForm[field]} errors={errors[field]}>
            {(control) => (
              <Input
                {...control}
                inputMode="url"
                placeholder={t.linkForm.sameAsDestination}
                value={draft[field]}
                onChange={(event) => change({ [field]: event.target.value })}
              />
            )}
          </Field>
        ))}
      </div>
    </Block>
  )
}

function PasswordBlock({ draft, link, errors, change }: FormState) {
  const t = useText()
  const hasPassword = link !== undefined && link.password !== null && !draft.removesPassword
  const isSet = hasPassword || draft.password !== ''
  return (
    <Block
      title={t.linkForm.password}
      summary={isSet ? t.linkForm.passwordSet : t.common.none}
      isFilled={isSet || draft.asksPassword}
      hasErrors={errors['password'] !== undefined}
    >
      <Field
        label={t.linkForm.password}
        hint={
          draft.asksPassword
            ? t.linkForm.passwordOfCopy
            : hasPassword
              ? t.linkForm.passwordKeep
              : t.linkForm.passwordHint
        }
        errors={errors['password']}
        aside={
          (hasPassword || draft.asksPassword) && (
            <Button
              size="small"
              look="bare"
              onClick={() =>
                change({ password: '', removesPassword: hasPassword, asksPassword: false })
              }
            >
              {hasPassword ? t.linkForm.removePassword : t.linkForm.noPassword}
            </Button>
          )
        }
      >
        {(control) => (
          <Input
            {...control}
            type="text"
            autoComplete="off"
            spellCheck={false}
            value={draft.password}
            onChange={(event) => change({ password: event.target.value })}
          />
        )}
      </Field>
    </Block>
  )
}

function ExternalIdBlock({ draft, errors, change }: FormState) {
  const t = useText()
  return (
    <Block
      title={t.linkForm.more}
      summary={draft.external_id || t.common.none}
      isFilled={draft.external_id !== ''}
      hasErrors={errors['external_id'] !== undefined}
    >
      <Field
        label={t.linkForm.externalId}
        hint={t.linkForm.externalIdHint}
        errors={errors['external_id']}
      >
        {(control) => (
          <Input
            {...control}
            inputMode="numeric"
            value={draft.external_id}
            onChange={(event) => change({ external_id: event.target.value })}
          />
        )}
      </Field>
    </Block>
  )
}
