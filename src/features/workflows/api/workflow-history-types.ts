/** The types of WorkflowHistory. */
import { headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';
import { historyEntryFields } from './workflow-history-entry.ts';

export const workflowHistoryTypes: DescribedTypes = {
  WorkflowHistory: {
    '': 'WorkflowHistory is a part of the history of a WorkflowRun; NAME-0001 is the oldest part.',
    ...headFields('WorkflowHistory'),
    'spec!:WorkflowHistorySpec': 'A part of the history of a run. Immutable.',
  },
  WorkflowHistorySpec: {
    'run!:string': 'Name of the WorkflowRun.',
    'entries!:[]WorkflowHistorySpecEntries': 'Entries of its history, in order.',
  },
  WorkflowHistorySpecEntries: historyEntryFields,
};
