/** The types of FolderWatch. */
import { headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';

export const folderWatchTypes: DescribedTypes = {
  FolderWatch: {
    '': 'FolderWatch is a folder that the agent of a node watches for a Trigger.',
    ...headFields('FolderWatch'),
    'spec!:FolderWatchSpec': 'What is watched. It cannot be changed.',
    'status:FolderWatchStatus': 'How it goes, written by the node.',
  },
  FolderWatchSpec: {
    'trigger!:string': 'Name of the Trigger.',
    'nodeName!:string': 'The node whose agent watches.',
    'source!:string': 'Of what its events are, as a path.',
    'since!:string': 'What happened before is not told.',
    'volumeName:string':
      'The PersistentVolume whose folder it is. Without one the node has to allow the folder.',
    'folder!:string': 'A folder of the node, as an absolute path.',
    'path:string': 'The folder in it that is watched; "" for itself. No part of it is a link.',
    'pattern:string': 'Only files whose name is such.',
    'types!:[]string': 'Which changes are told.',
    'recursive:bool': 'Whether the folders in it are watched too.',
    'includeContent:bool': 'Whether small files are told with what is in them.',
  },
  FolderWatchStatus: {
    'reason:string': 'Watching, or why not, in one word.',
    'message:string': 'More about it.',
    'waiting:bool': 'Whether files wait because too many events are to be delivered.',
  },
};
