/** The first page: charts of the cluster, and what needs attention. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Severity, severities } from '../../../../why/rule.ts';
import { icons } from '../../shell/icon.tsx';
import { ScopeChoice } from '../../shell/scope-choice.tsx';
import { CauseCard, severityHealth } from '../attention/cards.tsx';
import { type Card, matching, severityCounts } from '../attention/plan/attention.ts';
import { attention, useAttention } from '../attention/problems.ts';
import type { Page } from '../page.ts';
import { Charts } from './charts.tsx';

/** Number of cards that are shown at first. */
const shownAtFirst = 30;

function Overview() {
  useAttention();
  useEffect(() => {
    document.title = 'Overview · minik8s';
  }, []);
  return (
    <div class="page">
      <div class="head">
        <h1>Overview</h1>
        <span class="grow" />
        <ScopeChoice />
      </div>
      <Charts />
      <Problems />
    </div>
  );
}

function Problems() {
  const { cards, unread, isComplete } = attention.value;
  const filter = useSignal('');
  const severity = useSignal<Severity | undefined>(undefined);
  const shownCount = useSignal(shownAtFirst);
  const chosen = matching(cards, filter.value).filter(
    (card) => !severity.value || card.severity === severity.value,
  );
  const shown = chosen.slice(0, shownCount.value);
  return (
    <section aria-label="What needs attention">
      <div class="head section-head">
        <h2 aria-live="polite">{isComplete ? titleOf(cards) : 'Looking for what is wrong…'}</h2>
        <SeverityChoice
          cards={cards}
          chosen={severity.value}
          choose={(one) => {
            severity.value = one;
          }}
        />
        <span class="grow" />
        {cards.length > 3 && (
          <div class="filter">
            <input
              type="search"
              aria-label="Filter the causes"
              placeholder="Filter the causes"
              value={filter}
              onInput={(event) => {
                filter.value = event.currentTarget.value;
              }}
            />
          </div>
        )}
      </div>
      {isComplete && cards.length === 0 && <AsWished unread={unread} />}
      {chosen.length === 0 && cards.length > 0 && <p class="empty">No cause matches.</p>}
      <div class="causes">
        {shown.map((card) => (
          <CauseCard key={card.id} card={card} />
        ))}
      </div>
      {chosen.length > shown.length && (
        <button
          type="button"
          onClick={() => {
            shownCount.value += 100;
          }}
        >
          Show {chosen.length - shown.length} more
        </button>
      )}
      {isComplete && unread.length > 0 && (
        <p class="faint unread">
          You may not list these kinds, so causes in them are not seen: {unread.join(', ')}
        </p>
      )}
    </section>
  );
}

const titleOf = (cards: readonly Card[]): string =>
  cards.length === 0
    ? 'Nothing needs attention'
    : `${cards.length} ${cards.length === 1 ? 'cause needs' : 'causes need'} attention`;

interface ChoiceProps {
  readonly cards: readonly Card[];
  readonly chosen: Severity | undefined;
  readonly choose: (severity: Severity | undefined) => void;
}

function SeverityChoice({ cards, chosen, choose }: ChoiceProps) {
  const counts = severityCounts(cards);
  return (
    <>
      {severities
        .filter((severity) => counts[severity] > 0)
        .map((severity) => (
          <button
            key={severity}
            type="button"
            class="state-filter"
            aria-pressed={chosen === severity}
            onClick={() => choose(chosen === severity ? undefined : severity)}
          >
            <span class={`dot ${severityHealth[severity]}`} aria-hidden="true" />
            {counts[severity]} {severity}
          </button>
        ))}
    </>
  );
}

const AsWished = ({ unread }: { readonly unread: readonly string[] }) => (
  <div class="panel as-wished">
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M5 12l5 5 9-10" />
    </svg>
    <p>{unread.length === 0 ? 'No problem found.' : 'No problem found in the kinds that you may list.'}</p>
  </div>
);

export const overviewPage: Page = {
  ...{ path: '', title: 'Overview', group: 'Cluster', icon: icons.overview },
  component: Overview,
};
