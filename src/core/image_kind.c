/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The builders of boot images, a row each. Sources: initramfs-tools(7) and mkinitramfs of 0.142; dracut 059,
 * dracut.modules(7); mkinitcpio v41, mkinitcpio(8). Must not know what goes into an image.
 */
#include "core/image_kind.h"

#include <string.h>

#include "util/util.h"

const struct image_kind image_kinds[] = {
	{ .id = "initramfs-tools",
	  .program = "/usr/sbin/mkinitramfs",
	  .sign = "scripts/functions",
	  .hook = { { "initramfs-tools/hook", "/etc/initramfs-tools/hooks/hwluks", true },
		    { "initramfs-tools/local-top", "/etc/initramfs-tools/scripts/local-top/hwluks", true } },
	  .one = { "update-initramfs", "-u", "-k", "%k" },
	  .all = { "update-initramfs", "-u", "-k", "all" },
	  .images = { "/boot/initrd.img-%k" },
	  .starts = { "scripts/local-top/hwluks" },
	  .order = "scripts/local-top/ORDER",
	  .before = "/scripts/local-top/cryptroot" },
	{ .id = "dracut",
	  .program = "/usr/bin/dracut",
	  .sign = "lib/dracut-lib.sh",
	  .hook = { { "dracut/module-setup.sh", "/usr/lib/dracut/modules.d/89hwluks/module-setup.sh", true },
		    { "dracut/hwluks-load.sh", "/usr/lib/dracut/modules.d/89hwluks/hwluks-load.sh", true },
		    { "dracut/hwluks-load.service", "/usr/lib/dracut/modules.d/89hwluks/hwluks-load.service", false } },
	  .one = { "dracut", "--force", "--kver", "%k" },
	  .all = { "dracut", "--force", "--regenerate-all" },
	  .images = { "/boot/initramfs-%k.img", "/boot/initrd.img-%k" },
	  .starts = { "etc/systemd/system/sysinit.target.wants/hwluks-load.service",
		      "lib/systemd/system/sysinit.target.wants/hwluks-load.service", "lib/dracut/hooks/pre-trigger/10-hwluks-load.sh" } },
	{ .id = "mkinitcpio",
	  .program = "/usr/bin/mkinitcpio",
	  .sign = "init_functions",
	  .hook = { { "mkinitcpio/install", "/etc/initcpio/install/hwluks", false },
		    { "mkinitcpio/run-hook", "/etc/initcpio/hooks/hwluks", false } },
	  .one = { "mkinitcpio", "-P" },
	  .all = { "mkinitcpio", "-P" },
	  .images = { "/boot/initramfs-%p.img" },
	  .starts = { "hooks/hwluks", "lib/systemd/system/sysinit.target.wants/hwluks-load.service" },
	  .order = "config",
	  .before = "encrypt",
	  .also = "Add 'hwluks' to HOOKS in /etc/mkinitcpio.conf, behind 'block' and before 'encrypt' or 'sd-encrypt': mkinitcpio uses "
		  "only what stands there." },
};
const size_t image_kind_count = ARRAY_SIZE(image_kinds);

const struct image_kind *image_kind_by_id(const char *id)
{
	for (size_t i = 0; i < image_kind_count; i++)
		if (!strcmp(image_kinds[i].id, id))
			return &image_kinds[i];
	return NULL;
}
