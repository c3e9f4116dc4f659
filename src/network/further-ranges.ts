/** Follows the ServiceCIDRs of the cluster, for the parts of a node that serve their ranges. */
import { type FurtherRanges, serviceCIDRResource } from '../api/networking/v1/service-cidr.ts';
import type { Logger } from '../base/log.ts';
import type { InformerFactory } from '../client/informer.ts';
import { type MachinePlaces, planFurtherRanges } from './further-ranges-plan.ts';

export interface RangeFollowerOptions extends MachinePlaces {
  /** Informers of their own, not started yet: an older master does not serve ServiceCIDRs. */
  readonly informers: InformerFactory;
  readonly log: Logger;
}

export class RangeFollower implements FurtherRanges {
  readonly #options: RangeFollowerOptions;
  readonly #listeners: (() => void)[] = [];
  #ranges: readonly string[] = [];
  #problems: ReadonlySet<string> = new Set();

  constructor(options: RangeFollowerOptions) {
    this.#options = options;
    const informer = options.informers.informerFor(serviceCIDRResource);
    const read = () => this.#read(informer.lister.list());
    informer.addEventHandler({ onAdd: read, onUpdate: read, onDelete: read });
  }

  current(): readonly string[] {
    return this.#ranges;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Follows the objects until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { informers } = this.#options;
    try {
      await informers.start(signal);
    } finally {
      await informers.stopped();
    }
  }

  #read(all: Parameters<typeof planFurtherRanges>[0]): void {
    const { ranges, problems } = planFurtherRanges(all, this.#options);
    for (const problem of problems) if (!this.#problems.has(problem)) this.#options.log.warn(problem);
    this.#problems = new Set(problems);
    if (ranges.join(',') === this.#ranges.join(',')) return;
    this.#ranges = ranges;
    for (const listener of this.#listeners) listener();
  }
}
