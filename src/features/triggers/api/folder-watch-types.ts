/** The types of FolderWatch. */
import { headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';

export const folderWatchTypes: DescribedTypes = {
  FolderWatch: {
    '': 'FolderWatch is a folder that the agent of a node watches for a Trigger.',
    ...headFields('FolderWatch'),
    'spec!:FolderWatchSpec': 'The folder and the changes that are watched. Immutable.',
    'status:FolderWatchStatus': 'The state of the watch, written by the node.',
  },
  FolderWatchSpec: {
    'trigger!:string': 'Name of the Trigger.',
    'nodeName!:string': 'The node whose agent watches.',
    'source!:string': 'The source of its events, as a path.',
    'since!:string': 'Changes before this time are not reported.',
    'volumeName:string':
      'The PersistentVolume whose folder is watched. Without a volume the node must allow the folder.',
    'folder!:string': 'A folder of the node, as an absolute path.',
    'path:string':
      'The watched folder below `folder`; "" for `folder` itself. No part of the path may be a link.',
    'pattern:string': 'Pattern of the names of the files that are reported.',
    'types!:[]string': 'Types of the changes that are reported.',
    'recursive:bool': 'Whether its subfolders are watched too.',
    'includeContent:bool': 'Whether events contain the content of small files.',
  },
  FolderWatchStatus: {
    'reason:string': 'Watching, or the reason why the folder is not watched, in one word.',
    'message:string': 'Details of the reason.',
    'waiting:bool': 'Whether changes wait because too many events are not delivered yet.',
  },
};
