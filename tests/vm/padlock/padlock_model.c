// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Guest kernel module: gives a CPU without VIA PadLock the PadLock ACE flags and carries out
 * REP XCRYPT-ECB and -CBC in the invalid-opcode trap, so that the real padlock-aes driver runs.
 * Must not know hwluks, dm-crypt or padlock-aes internals beyond the instruction's own interface.
 *
 * The instruction (VIA PadLock Programming Guide, ACE; drivers/crypto/padlock-aes.c in 6.1 is
 * the user): F3 0F A7 C8 = ECB, F3 0F A7 D0 = CBC. SI source, DI destination, CX blocks, BX key,
 * DX control word, AX IV. XSTORE (the RNG) and PHE (hashes) are left off: nobody emulates them.
 *
 * /proc/padlock_model: one line per mode and direction, "ecb_enc ops N blocks M", and "faults N".
 * Writing "reset" to it sets every counter to 0, and with it the start of fault_after.
 *
 * Broken engine, by parameter (also writable later in /sys/module/padlock_model/parameters):
 *   fault=1          flip one bit in the last byte of an operation's output
 *   fault_min=BYTES  ... only in operations of at least BYTES
 *   fault_after=N    ... leaving the first N of these since load or reset alone
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/kdebug.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/proc_fs.h>
#include <linux/ptrace.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <crypto/aes.h>
#include <crypto/algapi.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>
#include <asm/trapnr.h>

#define PROC_NAME  "padlock_model"
#define VIA_VENDOR "CentaurHauls"

/* Control word, first dword. Bits 4-6 (algorithm, 0 = AES) and 8 (intermediate) stay 0. */
#define CW_KEYGEN    BIT(7) /* software has expanded the key */
#define CW_DECRYPT   BIT(9)
#define CW_KSIZE(cw) (((cw) >> 10) & 3) /* 0, 1, 2: 128, 192, 256 bits */

#define XCRYPT_LEN 4
#define OPCODE_ECB 0xc8
#define OPCODE_CBC 0xd0

static bool fault;
module_param(fault, bool, 0644);
MODULE_PARM_DESC(fault, "return wrong data");

static uint fault_after;
module_param(fault_after, uint, 0644);
MODULE_PARM_DESC(fault_after, "such operations done right before the fault sets in");

static uint fault_min;
module_param(fault_min, uint, 0644);
MODULE_PARM_DESC(fault_min, "fault only in operations of at least this many bytes");

enum { ECB, CBC, NR_MODES };
enum { ENC, DEC, NR_DIRS };

static atomic64_t ops[NR_MODES][NR_DIRS];
static atomic64_t blocks[NR_MODES][NR_DIRS];
static atomic64_t could_fault, faults;

struct xcrypt {
	int mode, dir;
	struct crypto_aes_ctx key;
	const u8 *in;
	u8 *out;
	u8 *iv;
	unsigned long count;
};

static void counters_reset(void)
{
	int m, d;

	for (m = 0; m < NR_MODES; m++) {
		for (d = 0; d < NR_DIRS; d++) {
			atomic64_set(&ops[m][d], 0);
			atomic64_set(&blocks[m][d], 0);
		}
	}
	atomic64_set(&could_fault, 0);
	atomic64_set(&faults, 0);
}

/*
 * With keygen set, BX holds 60 words of the kernel's schedule: the encrypting one begins with
 * the raw key, so expanding that again gives the same schedule; the decrypting one is the
 * inverse schedule and is used as it stands.
 */
static int xcrypt_key(struct crypto_aes_ctx *key, const u8 *bx, u32 cw)
{
	unsigned int len = 16 + 8 * CW_KSIZE(cw);

	if (CW_KSIZE(cw) > 2)
		return -EINVAL;
	if ((cw & CW_KEYGEN) && (cw & CW_DECRYPT)) {
		memcpy(key->key_dec, bx, sizeof(key->key_dec));
		key->key_length = len;
		return 0;
	}
	return aes_expandkey(key, bx, len);
}

/* Source and destination may be the same: take each block before writing it. */
static void xcrypt_run(struct xcrypt *x)
{
	u8 src[AES_BLOCK_SIZE], dst[AES_BLOCK_SIZE];
	unsigned long i;

	for (i = 0; i < x->count; i++, x->in += AES_BLOCK_SIZE, x->out += AES_BLOCK_SIZE) {
		memcpy(src, x->in, AES_BLOCK_SIZE);
		if (x->dir == ENC) {
			if (x->mode == CBC)
				crypto_xor(src, x->iv, AES_BLOCK_SIZE);
			aes_encrypt(&x->key, dst, src);
			memcpy(x->out, dst, AES_BLOCK_SIZE);
			/* the real instruction leaves AX pointing at the last ciphertext */
			if (x->mode == CBC)
				x->iv = x->out;
		} else {
			aes_decrypt(&x->key, dst, src);
			if (x->mode == CBC) {
				crypto_xor(dst, x->iv, AES_BLOCK_SIZE);
				memcpy(x->iv, src, AES_BLOCK_SIZE);
			}
			memcpy(x->out, dst, AES_BLOCK_SIZE);
		}
	}
	memzero_explicit(src, sizeof(src));
	memzero_explicit(dst, sizeof(dst));
}

/* Called with x->out behind the last block written. */
static void xcrypt_account(const struct xcrypt *x)
{
	atomic64_inc(&ops[x->mode][x->dir]);
	atomic64_add(x->count, &blocks[x->mode][x->dir]);

	if (!x->count || x->count * AES_BLOCK_SIZE < READ_ONCE(fault_min))
		return;
	if (!READ_ONCE(fault) || atomic64_inc_return(&could_fault) <= READ_ONCE(fault_after))
		return;
	x->out[-1] ^= 1;
	atomic64_inc(&faults);
}

static int on_die(struct notifier_block *nb, unsigned long event, void *data)
{
	static const u8 prefix[] = { 0xf3, 0x0f, 0xa7 };
	struct die_args *args = data;
	struct pt_regs *regs = args->regs;
	struct xcrypt x;
	const u8 *ip;
	u32 cw;

	if (event != DIE_TRAP || args->trapnr != X86_TRAP_UD || user_mode(regs))
		return NOTIFY_DONE;
	ip = (const u8 *)regs->ip;
	if (memcmp(ip, prefix, sizeof(prefix)) != 0)
		return NOTIFY_DONE;
	if (ip[3] != OPCODE_ECB && ip[3] != OPCODE_CBC)
		return NOTIFY_DONE;

	cw = *(const u32 *)regs->dx;
	x.mode = ip[3] == OPCODE_CBC ? CBC : ECB;
	x.dir = cw & CW_DECRYPT ? DEC : ENC;
	x.in = (const u8 *)regs->si;
	x.out = (u8 *)regs->di;
	x.iv = (u8 *)regs->ax;
	x.count = regs->cx;
	if (xcrypt_key(&x.key, (const u8 *)regs->bx, cw) != 0)
		return NOTIFY_DONE; /* oops: a control word the silicon would not take */

	xcrypt_run(&x);
	xcrypt_account(&x);
	memzero_explicit(&x.key, sizeof(x.key));

	regs->si = (unsigned long)x.in;
	regs->di = (unsigned long)x.out;
	regs->cx = 0;
	if (x.mode == CBC)
		regs->ax = (unsigned long)x.iv;
	regs->ip += XCRYPT_LEN;
	return NOTIFY_STOP;
}

static struct notifier_block die_nb = {
	.notifier_call = on_die,
	.priority = INT_MAX,
};

/*
 * A driver that found PadLock goes on executing XCRYPT, which is an oops once this module is
 * gone. So each driver of the family holds a reference here from its load to its unload; a
 * load that fails is followed by MODULE_STATE_GOING too.
 */
static int on_module(struct notifier_block *nb, unsigned long state, void *data)
{
	const struct module *mod = data;

	if (strcmp(mod->name, "padlock_aes") != 0)
		return NOTIFY_DONE;
	if (state == MODULE_STATE_COMING)
		__module_get(THIS_MODULE);
	else if (state == MODULE_STATE_GOING)
		module_put(THIS_MODULE);
	return NOTIFY_OK;
}

static struct notifier_block module_nb = {
	.notifier_call = on_module,
};

/* What the CPU was before; all CPUs of a guest are alike, so one copy serves. */
static u8 old_vendor;
static char old_vendor_id[sizeof(boot_cpu_data.x86_vendor_id)];

static void cpu_become_via(struct cpuinfo_x86 *c)
{
	c->x86_vendor = X86_VENDOR_CENTAUR;
	strscpy(c->x86_vendor_id, VIA_VENDOR, sizeof(c->x86_vendor_id));
	set_bit(X86_FEATURE_XCRYPT, (unsigned long *)c->x86_capability);
	set_bit(X86_FEATURE_XCRYPT_EN, (unsigned long *)c->x86_capability);
}

static void cpu_restore(struct cpuinfo_x86 *c)
{
	clear_bit(X86_FEATURE_XCRYPT, (unsigned long *)c->x86_capability);
	clear_bit(X86_FEATURE_XCRYPT_EN, (unsigned long *)c->x86_capability);
	strscpy(c->x86_vendor_id, old_vendor_id, sizeof(c->x86_vendor_id));
	c->x86_vendor = old_vendor;
}

/* boot_cpu_data is what drivers match; the copies for each CPU are what /proc/cpuinfo shows. */
static void caps_set(void)
{
	int cpu;

	old_vendor = boot_cpu_data.x86_vendor;
	strscpy(old_vendor_id, boot_cpu_data.x86_vendor_id, sizeof(old_vendor_id));
	for_each_possible_cpu(cpu)
	{
		cpu_become_via(&cpu_data(cpu));
	}
	cpu_become_via(&boot_cpu_data);
}

static void caps_clear(void)
{
	int cpu;

	cpu_restore(&boot_cpu_data);
	for_each_possible_cpu(cpu)
	{
		cpu_restore(&cpu_data(cpu));
	}
}

static int model_show(struct seq_file *m, void *v)
{
	static const char *const names[NR_MODES][NR_DIRS] = {
		[ECB] = { [ENC] = "ecb_enc", [DEC] = "ecb_dec" },
		[CBC] = { [ENC] = "cbc_enc", [DEC] = "cbc_dec" },
	};
	int i, j;

	for (i = 0; i < NR_MODES; i++)
		for (j = 0; j < NR_DIRS; j++)
			seq_printf(m, "%s ops %lld blocks %lld\n", names[i][j],
			           (long long)atomic64_read(&ops[i][j]),
			           (long long)atomic64_read(&blocks[i][j]));
	seq_printf(m, "faults %lld\n", (long long)atomic64_read(&faults));
	return 0;
}

static int model_open(struct inode *inode, struct file *file)
{
	return single_open(file, model_show, NULL);
}

static ssize_t model_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char word[16] = "";

	if (len >= sizeof(word))
		return -EINVAL;
	if (copy_from_user(word, buf, len))
		return -EFAULT;
	if (!sysfs_streq(word, "reset"))
		return -EINVAL;
	counters_reset();
	return len;
}

static const struct proc_ops model_proc_ops = {
	.proc_open = model_open,
	.proc_read = seq_read,
	.proc_write = model_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int __init model_init(void)
{
	int err;

	if (boot_cpu_has(X86_FEATURE_XCRYPT)) {
		pr_err(PROC_NAME ": this CPU has PadLock of its own\n");
		return -EEXIST;
	}
	err = register_die_notifier(&die_nb);
	if (err)
		return err;
	err = register_module_notifier(&module_nb);
	if (err)
		goto err_die;
	if (!proc_create(PROC_NAME, 0644, NULL, &model_proc_ops)) {
		err = -ENOMEM;
		goto err_module;
	}
	caps_set(); /* last: from here on a driver may come */
	return 0;

err_module:
	unregister_module_notifier(&module_nb);
err_die:
	unregister_die_notifier(&die_nb);
	return err;
}

static void __exit model_exit(void)
{
	caps_clear();
	remove_proc_entry(PROC_NAME, NULL);
	unregister_module_notifier(&module_nb);
	unregister_die_notifier(&die_nb);
}

module_init(model_init);
module_exit(model_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("VIA PadLock ACE model for test guests");
