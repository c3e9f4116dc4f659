/** The dialog of an action on several objects: what is asked, then the result of each object. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { KubeObject } from '../../../../apimachinery/meta.ts';
import { errorMessage } from '../../../../base/log.ts';
import { rulesKnown } from '../../cluster/access.ts';
import type { ApiKind } from '../../cluster/plan/discovery.ts';
import { DialogEnd, openDialog } from '../../shell/dialog.tsx';
import { scrollable } from '../../shell/scrollable.ts';
import {
  countOutcomes,
  countsText,
  eachOfSeveral,
  mostUrgentFirst,
  type Outcome,
} from '../plan/each-of-several.ts';
import { namespacesOf, reviewedPlaces } from '../plan/reviewed-places.ts';
import type { SeveralAction } from './several-action.ts';

interface Props {
  readonly kind: ApiKind;
  /** The objects that the user may change. */
  readonly objects: readonly KubeObject[];
  /** The selected objects that the user may not change. */
  readonly refused: readonly KubeObject[];
  readonly close: () => void;
  /** The word on the button that acts. */
  readonly word: string;
  readonly isDangerous?: boolean;
  readonly isReady?: boolean;
  /** Returns why the form cannot be sent; undefined if it can. */
  readonly check?: () => string | undefined;
  /** Acts on one object, and resolves to what was done. */
  readonly work: (object: KubeObject) => Promise<string>;
  /** Questions of the dialog, above the objects. */
  readonly children?: ComponentChildren;
}

export type SeveralDialogProps = Pick<Props, 'kind' | 'objects' | 'refused' | 'close'>;

/** Maximum number of objects that are listed; the others are counted. */
const maxListed = 200;

/**
 * Opens the dialog of an action for the objects among the selected ones that the user may change, once the
 * rights in their namespaces are known.
 */
export async function openSeveral(
  action: SeveralAction,
  kind: ApiKind,
  selected: readonly KubeObject[],
  content: (props: SeveralDialogProps) => ComponentChildren,
): Promise<void> {
  const places = reviewedPlaces(selected.map(({ metadata }) => metadata));
  await rulesKnown(namespacesOf(places));
  const isAllowed = places.map((place) => action.applies(kind, place));
  const objects = selected.filter((_, index) => isAllowed[index]);
  const refused = selected.filter((_, index) => !isAllowed[index]);
  openDialog({
    title: `${action.title} ${countOf(kind, objects.length)}`,
    content: ({ close }) => <>{content({ kind, objects, refused, close })}</>,
  });
}

/** Returns `1 Pod` or `3 Pods`. */
export const countOf = ({ kind }: ApiKind, count: number): string =>
  `${count.toLocaleString('en')} ${kind}${count === 1 || kind.endsWith('s') ? '' : 's'}`;

export function SeveralDialog(props: Props) {
  const { objects, refused, close, work } = props;
  const outcomes = useSignal<readonly Outcome[]>(objects.map(() => ({ state: 'waiting' })));
  const phase = useSignal<'asks' | 'runs' | 'ended'>('asks');
  const failure = useSignal('');
  const abort = useMemo(() => new AbortController(), []);
  useEffect(() => () => abort.abort(), [abort]);
  const start = async () => {
    failure.value = props.check?.() ?? '';
    if (failure.value !== '' || phase.value !== 'asks') return;
    phase.value = 'runs';
    const report = (index: number, outcome: Outcome) => {
      outcomes.value = outcomes.value.with(index, outcome);
    };
    await eachOfSeveral(objects, { work, reasonOf: errorMessage, report, signal: abort.signal });
    phase.value = 'ended';
  };
  const counts = countOutcomes(outcomes.value);
  return (
    <form
      method="dialog"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      {phase.value === 'asks' && props.children}
      {refused.length > 0 && (
        <p class="notice">Not in your rights, so left as they are: {namesText(refused)}.</p>
      )}
      {phase.value !== 'asks' && <p role="status">{countsText(counts)}</p>}
      <Outcomes objects={objects} outcomes={outcomes.value} isAsking={phase.value === 'asks'} />
      <DialogEnd
        failure={failure.value}
        close={close}
        closeWord={phase.value === 'asks' ? 'Cancel' : phase.value === 'runs' ? 'Stop' : 'Close'}
      >
        {phase.value === 'asks' && (
          <button
            type="submit"
            class={props.isDangerous ? 'danger' : 'primary'}
            disabled={props.isReady === false}
          >
            {props.word}
          </button>
        )}
      </DialogEnd>
    </form>
  );
}

const namesText = (objects: readonly KubeObject[]): string => {
  const shown = objects.slice(0, 5).map(({ metadata }) => metadata.name);
  const more = objects.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

const chips = { waiting: 'neutral', running: 'waiting', done: 'good', failed: 'bad' } as const;

interface OutcomesProps {
  readonly objects: readonly KubeObject[];
  readonly outcomes: readonly Outcome[];
  /** True while nothing has been sent: the objects are only named. */
  readonly isAsking: boolean;
}

const Outcomes = ({ objects, outcomes, isAsking }: OutcomesProps) => (
  <ul class="names fates" {...scrollable} aria-label="Objects">
    {mostUrgentFirst(outcomes)
      .slice(0, maxListed)
      .map((index) => {
        const { metadata } = objects[index] as KubeObject;
        const outcome = outcomes[index] as Outcome;
        return (
          <li key={metadata.uid}>
            {!isAsking && <span class={`chip ${chips[outcome.state]}`}>{outcome.state}</span>}
            <span>
              {metadata.name}
              {metadata.namespace !== undefined && <span class="faint"> in {metadata.namespace}</span>}
              {'text' in outcome && <span class="faint">: {outcome.text}</span>}
            </span>
          </li>
        );
      })}
    {objects.length > maxListed && <li class="faint">and {objects.length - maxListed} more</li>}
  </ul>
);
