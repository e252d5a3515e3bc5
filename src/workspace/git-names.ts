/**
 * Whether a path component is `.git`, or becomes it on a file system that folds names: letter case, the code points
 * that HFS+ ignores, NTFS's short name, and trailing dots, spaces or a stream. Same rules as git's `is_hfs_dotgit` and
 * `is_ntfs_dotgit`; git refuses to record such names.
 */
export function isGitName(component: string): boolean {
  const folded = component.replace(HFS_IGNORED, '').toLowerCase();
  return /^(\.git|git~1)[. ]*(:.*)?$/s.test(folded);
}

const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;
