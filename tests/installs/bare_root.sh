#!/bin/sh
# Run a command in a root folder that has Python, make, a shell and the tools of files and text, and nothing else: no git,
# no compiler, nobody's home.
#
#   unshare --mount --pid --fork sh bare_root.sh ROOT PROJECT CACHE COMMAND ...
#
# PROJECT is seen as /project, and CACHE, which pip has filled before, as /root/.cache/pip. All mounts end with the process.
set -eu
root=$1 project=$2 cache=$3
shift 3
mount --make-rprivate /
mount -t tmpfs bare "$root"
mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/etc" "$root/dev" "$root/proc" "$root/tmp" "$root/opt" \
    "$root/project" "$root/root/.cache/pip" "$root/usr/share/python-wheels"
ln -s usr/bin "$root/bin"
for folder in lib lib64; do
    if [ -L "/$folder" ]; then ln -s "usr/lib${folder#lib}" "$root/$folder"; else mkdir "$root/$folder" && mount --bind "/$folder" "$root/$folder"; fi
done
[ ! -d /usr/lib64 ] || { mkdir "$root/usr/lib64" && mount --bind /usr/lib64 "$root/usr/lib64"; }
for folder in usr/lib usr/share/python-wheels etc opt; do
    mount --bind "/$folder" "$root/$folder"
done
mount --rbind /dev "$root/dev"
mount --bind "$project" "$root/project"
mount --bind "$cache" "$root/root/.cache/pip"
mount -t proc proc "$root/proc"
# What Debian calls essential: coreutils, grep, sed, and a shell.
for program in $(dpkg --listfiles coreutils dash grep sed python3-minimal python3.11-minimal make | grep -E '^/(usr/)?bin/.'); do
    cp -d "/usr/bin/${program##*/}" "$root/usr/bin/"
done
exec /usr/sbin/chroot "$root" /usr/bin/env --chdir=/project "$@"
