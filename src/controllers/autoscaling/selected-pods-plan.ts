/**
 * Determines which pods each autoscaler of a namespace selects, and which other autoscalers select the same
 * pods. Pure.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { matches, parseLabelSelector, type Selector } from '../../apimachinery/labels.ts';
import type { ObjectKey } from '../../apimachinery/meta.ts';
import { StatusError } from '../../apimachinery/status-error.ts';

interface Picker {
  readonly key: ObjectKey;
  readonly selector: Selector;
}

export interface Selected {
  /** Selected pods, in the order of the input. */
  readonly pods: readonly Pod[];
  /** All autoscalers that select one of these pods, sorted. */
  readonly autoscalers: readonly ObjectKey[];
}

/**
 * Selections of all autoscalers of a namespace. Each pod is compared only with selectors that may match it,
 * so a thousand autoscalers cost little more than their pods.
 */
export class SelectedPods {
  readonly #pods: readonly Pod[];
  /** Text of each selector, and the reason if it cannot be parsed. */
  readonly #texts = new Map<ObjectKey, { readonly text: string; readonly fault?: string }>();
  /** Pickers by `key=value` of one label that the selector requires; the rest at ''. */
  readonly #byLabel = new Map<string, Picker[]>();
  #byPicker: Map<ObjectKey, Pod[]> | undefined;

  /** `selectors` are in text form; an empty selector selects nothing. */
  constructor(pods: readonly Pod[], selectors: Iterable<readonly [ObjectKey, string]>) {
    this.#pods = pods;
    for (const [key, text] of selectors) if (text !== '') this.#add(key, text);
  }

  /**
   * Returns the selection of an autoscaler, or undefined if it was not in the input or had another selector.
   * A text is the reason why its selector cannot be parsed.
   */
  of(key: ObjectKey, text: string): Selected | string | undefined {
    const known = this.#texts.get(key);
    if (known?.text !== text) return undefined;
    if (known.fault !== undefined) return known.fault;
    this.#byPicker ??= this.#group();
    const pods = this.#byPicker.get(key) ?? [];
    const autoscalers = new Set([key, ...pods.flatMap((pod) => this.#pickersOf(pod).map((one) => one.key))]);
    return { pods, autoscalers: [...autoscalers].sort() };
  }

  #add(key: ObjectKey, text: string): void {
    let selector: Selector;
    try {
      selector = parseLabelSelector(text);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      this.#texts.set(key, { text, fault: error.message });
      return;
    }
    const picker = { key, selector };
    const exact = selector.requirements.find(({ operator }) => operator === '=');
    const label = exact ? `${exact.key}=${exact.values[0]}` : '';
    this.#texts.set(key, { text });
    const there = this.#byLabel.get(label);
    if (there) there.push(picker);
    else this.#byLabel.set(label, [picker]);
  }

  #group(): Map<ObjectKey, Pod[]> {
    const groups = new Map<ObjectKey, Pod[]>();
    for (const pod of this.#pods)
      for (const { key } of this.#pickersOf(pod)) {
        const group = groups.get(key);
        if (group) group.push(pod);
        else groups.set(key, [pod]);
      }
    return groups;
  }

  #pickersOf({ metadata: { labels = {} } }: Pod): readonly Picker[] {
    const names = ['', ...Object.entries(labels).map(([name, value]) => `${name}=${value}`)];
    return names
      .flatMap((name) => this.#byLabel.get(name) ?? [])
      .filter(({ selector }) => matches(selector, labels));
  }
}
