import type { Then } from '@terse/contract/rules'
import { type KeyboardEvent, useId, useRef } from 'react'
import { AddIcon, CloseIcon, ExpiryIcon, LinkIcon } from '../../icons/index.ts'
import { Button, IconButton } from '../../widgets/Button.tsx'
import { Field, Input, Select } from '../../widgets/Field.tsx'
import { SegmentedControl } from '../../widgets/SegmentedControl.tsx'
import { type Errors, ErrorText, errorsBelow } from './ConditionChips.tsx'
import { InstantField } from './ConditionForms.tsx'
import { evenedOut, letterOf, sharesOf, shifted, type Variant } from './rule-draft.ts'
import { useRuleLanguage } from './use-rule-language.ts'

const VARIANTS_MAX = 20
const REMEMBER_DAYS = [1, 7, 30, 90, 365]
/** As many colours as there are for series. */
const COLORS = 6

type ThenFieldsProps = {
  /** Of its rule, from 1. */
  readonly place: number
  readonly then: Then
  readonly errors: Errors
  readonly onChange: (then: Then) => void
}

/** Where the visitors of a rule are sent: to one page, or divided among several. */
export function ThenFields({ place, then, errors, onChange }: ThenFieldsProps) {
  const { w } = useRuleLanguage()
  const { url = '', split } = then
  function choose(kind: 'url' | 'split') {
    if (kind === 'url') onChange({ url: split?.[0]?.url ?? url })
    else if (split === undefined) {
      const names = [letterOf(0), letterOf(1)]
      const variants = names.map((name, nth) => ({ name, url: nth === 0 ? url : '', weight: 50 }))
      onChange({ split: variants })
    }
  }
  return (
    <>
      <SegmentedControl
        label={w.then}
        value={split === undefined ? 'url' : 'split'}
        choices={[
          ['url', w.onePage],
          ['split', w.split],
        ]}
        onChange={choose}
      />
      {split === undefined ? (
        <Field label={w.destination(place)} errors={errorsBelow(errors, 'then')}>
          {(control) => (
            <Input
              {...control}
              icon={LinkIcon}
              inputMode="url"
              autoCapitalize="none"
              placeholder="https://"
              value={url}
              onChange={(event) => onChange({ url: event.target.value })}
            />
          )}
        </Field>
      ) : (
        <SplitFields then={then} split={split} errors={errors} onChange={onChange} />
      )}
    </>
  )
}

type SplitFieldsProps = Omit<ThenFieldsProps, 'place'> & { readonly split: readonly Variant[] }

function SplitFields({ then, split, errors, onChange }: SplitFieldsProps) {
  const { w } = useRuleLanguage()
  const id = useId()
  const change = (variants: Variant[]) => onChange({ ...then, split: variants })
  return (
    <>
      <WeightBar split={split} onChange={change} />
      <ul className="vars">
        {split.map((variant, nth) => (
          <VariantFields
            // biome-ignore lint/suspicious/noArrayIndexKey: a variant is known by its letter
            key={nth}
            nth={nth}
            variant={variant}
            errors={errorsBelow(errors, `then.split.${nth}`)}
            onChange={(changed) => {
              const isLast = then.end?.variant === variant.name
              const end = then.end && isLast ? { ...then.end, variant: changed.name } : then.end
              onChange({ ...then, split: split.with(nth, changed), ...(end && { end }) })
            }}
            onRemove={split.length > 2 ? () => change(split.toSpliced(nth, 1)) : undefined}
          />
        ))}
      </ul>
      <ErrorText id={id} errors={errors['then.split'] ?? []} />
      <div className="vars-foot">
        {split.length < VARIANTS_MAX && (
          <Button
            size="small"
            look="bare"
            icon={AddIcon}
            onClick={() => change([...split, { name: freeName(split), url: '', weight: 0 }])}
          >
            {w.variant}
          </Button>
        )}
        <Button size="small" look="bare" onClick={() => change(evenedOut(split))}>
          {w.evenOut}
        </Button>
        <RememberSelect then={then} onChange={onChange} />
      </div>
      <SplitEnd then={then} split={split} errors={errors} onChange={onChange} />
    </>
  )
}

/** The first letter that no variant has as its name. */
function freeName(split: readonly Variant[]): string {
  const letters = Array.from({ length: VARIANTS_MAX }, (_, nth) => letterOf(nth))
  return letters.find((letter) => !split.some(({ name }) => name === letter)) ?? ''
}

type WeightBarProps = {
  readonly split: readonly Variant[]
  readonly onChange: (split: Variant[]) => void
}

/** The shares of the variants. A handle between two moves weight from one to the other. */
function WeightBar({ split, onChange }: WeightBarProps) {
  const { w, share } = useRuleLanguage()
  const bar = useRef<HTMLFieldSetElement>(null)
  const shares = sharesOf(split)
  const sum = split.reduce((total, { weight }) => total + weight, 0)
  const upTo = (nth: number) => shares.slice(0, nth + 1).reduce((total, part) => total + part, 0)
  const percent = Math.max(1, Math.round(sum / 100))

  function onKeyDown(event: KeyboardEvent, handle: number) {
    const direction = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key]
    if (direction === undefined || event.altKey) return
    event.preventDefault()
    onChange(shifted(split, handle, direction * percent * (event.shiftKey ? 10 : 1)))
  }
  function dragTo(x: number, handle: number) {
    const box = bar.current?.getBoundingClientRect()
    if (box === undefined || sum === 0) return
    const wanted = Math.round(((x - box.left) / box.width) * sum)
    onChange(shifted(split, handle, wanted - Math.round(upTo(handle) * sum)))
  }

  return (
    <fieldset className="wbar" ref={bar} aria-label={w.weights}>
      {split.map((_, nth) => {
        const [part = 0, letter] = [shares[nth], letterOf(nth)]
        return [
          <div key={letter} className={`v${(nth % COLORS) + 1}`} style={{ flexGrow: part }}>
            <span>{letter}</span>
            <b>{share(part)}</b>
          </div>,
          nth < split.length - 1 && (
            <button
              key={`${letter} handle`}
              type="button"
              role="slider"
              aria-label={w.between(letter, letterOf(nth + 1))}
              aria-valuenow={Math.round(upTo(nth) * 100)}
              aria-valuemin={0}
              aria-valuemax={100}
              aria-valuetext={`${letter} ${share(part)}, ${letterOf(nth + 1)} ${share(shares[nth + 1] ?? 0)}`}
              onKeyDown={(event) => onKeyDown(event, nth)}
              onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
              onPointerMove={(event) => {
                if (event.currentTarget.hasPointerCapture(event.pointerId)) {
                  dragTo(event.clientX, nth)
                }
              }}
            />
          ),
        ]
      })}
    </fieldset>
  )
}

type VariantFieldsProps = {
  readonly nth: number
  readonly variant: Variant
  readonly errors: readonly string[]
  readonly onChange: (variant: Variant) => void
  readonly onRemove: (() => void) | undefined
}

function VariantFields({ nth, variant, errors, onChange, onRemove }: VariantFieldsProps) {
  const { w } = useRuleLanguage()
  const id = useId()
  const letter = letterOf(nth)
  const isBad = errors.length > 0
  const bad = { 'aria-invalid': isBad || undefined, 'aria-describedby': isBad ? id : undefined }
  return (
    <li>
      <span className={`sq b${(nth % COLORS) + 1}`} aria-hidden>
        {letter}
      </span>
      <Input
        className="nm"
        aria-label={w.variantName(letter)}
        value={variant.name}
        onChange={(event) => onChange({ ...variant, name: event.target.value })}
      />
      <Input
        {...bad}
        className="url"
        aria-label={w.variantUrl(letter)}
        inputMode="url"
        autoCapitalize="none"
        placeholder="https://"
        value={variant.url}
        onChange={(event) => onChange({ ...variant, url: event.target.value })}
      />
      <Input
        className="wt"
        aria-label={w.variantWeight(letter)}
        type="number"
        min={0}
        max={10_000}
        value={variant.weight}
        onChange={(event) => onChange({ ...variant, weight: Math.trunc(+event.target.value) })}
      />
      {onRemove !== undefined && (
        <IconButton icon={CloseIcon} label={w.removeVariant(letter)} onClick={onRemove} />
      )}
      <ErrorText id={id} errors={errors} />
    </li>
  )
}

type ThenProps = { readonly then: Then; readonly onChange: (then: Then) => void }

function RememberSelect({ then, onChange }: ThenProps) {
  const { w } = useRuleLanguage()
  const id = useId()
  const { remember_days, ...rest } = then
  const days = remember_days ?? 1
  const choices = [...new Set([...REMEMBER_DAYS, days])].toSorted((one, other) => one - other)
  return (
    <div className="remember">
      <label htmlFor={id}>{w.remember}</label>
      <Select
        id={id}
        value={days}
        onChange={({ target }) =>
          onChange(target.value === '1' ? rest : { ...rest, remember_days: Number(target.value) })
        }
      >
        {choices.map((one) => (
          <option key={one} value={one}>
            {w.rememberDays(one)}
          </option>
        ))}
      </Select>
    </div>
  )
}

/** From when on everybody gets one of the variants. */
function SplitEnd({
  then,
  split,
  errors,
  onChange,
}: Omit<ThenFieldsProps, 'place'> & { readonly split: readonly Variant[] }) {
  const { w } = useRuleLanguage()
  const { end, ...rest } = then
  const set = (change: Partial<NonNullable<Then['end']>>) =>
    onChange({ ...rest, end: { at: '', variant: split[0]?.name ?? '', ...end, ...change } })
  if (end === undefined) {
    return (
      <Button
        size="small"
        look="bare"
        icon={ExpiryIcon}
        className="justify-self-start"
        onClick={() => set({ at: new Date(Date.now() + 14 * 86_400_000).toISOString() })}
      >
        {w.end}
      </Button>
    )
  }
  return (
    <div className="split-end">
      <InstantField
        label={w.endAt}
        value={end.at}
        errors={errors['then.end.at']}
        onChange={(at) => set({ at: at ?? '' })}
      />
      <Field label={w.endWith} errors={errors['then.end.variant'] ?? []}>
        {(control) => (
          <Select
            {...control}
            value={end.variant}
            onChange={(event) => set({ variant: event.target.value })}
          >
            {split.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <IconButton icon={CloseIcon} label={w.noEnd} onClick={() => onChange(rest)} />
    </div>
  )
}
